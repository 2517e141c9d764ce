"""The arguments of tool calls as a template prints them: JSON once, twice, or as Python writes a dict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lint_dataset.conversations import Conversation
from lint_dataset.faults import Fault
from lint_dataset.processors.causes import arguments_as
from lint_dataset.processors.guard import place

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor


def arguments(
    conversation: Conversation, messages: list[dict[str, Any]], plain: str, processor: Processor
) -> list[Fault]:
    """The faults of a render ``plain`` in which the arguments of a call are not what they are.

    A template that prints arguments with ``tojson`` puts a string of JSON in quotes and escapes; one that prints them
    as they stand writes an object as Python does. ``other`` says whether the other form would do.
    """
    faults = []
    for index, message in enumerate(conversation.messages):
        if not message.has_tool_calls:
            continue
        form = next((form for form in (str, dict) if _wrong(messages, index, form, plain)), None)
        if form is not None:
            does = "escapes" if form is str else "prints"
            other = _other_form(conversation, messages, index, form, processor)
            named = {"form": "text" if form is str else "object", "does": does, "other": other}
            faults.append(Fault("M113", {**place(conversation, index), **named}))
    return faults


def _other_form(
    conversation: Conversation, messages: list[dict[str, Any]], index: int, form: type, processor: Processor
) -> bool:
    """Whether the template prints the arguments well when they have the other form."""
    other = dict if form is str else str
    changed = [*messages[:index], arguments_as(other, messages[index]), *messages[index + 1 :]]
    try:
        render = processor.render(changed, conversation.tools, conversation.variables)
    except Exception:  # it takes neither
        return False
    return not _wrong(changed, index, other, render)


def _wrong(messages: list[dict[str, Any]], index: int, form: type, plain: str) -> bool:
    """Whether arguments of this form are printed as something else than they are, by the template and not in a text."""
    return any(
        bad in plain and plain.count(bad) > sum(str(message.get("content")).count(bad) for message in messages)
        for arguments in _arguments_of(messages[index])
        if isinstance(arguments, form)
        for bad in (_escaped(arguments) if isinstance(arguments, str) else _printed(arguments))
    )


def _arguments_of(message: dict[str, Any]) -> Iterator[Any]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            function = call.get("function")
            yield (function if isinstance(function, dict) else call).get("arguments")


def _escaped(arguments: str) -> Iterator[str]:
    """A string of JSON as JSON writes a string, where it holds an object: with quotes around it and inside."""
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return
    if isinstance(read, dict):
        yield json.dumps(arguments, ensure_ascii=False)
        yield json.dumps(arguments)


def _printed(value: Any) -> Iterator[str]:
    """Each object in the arguments as Python prints it, where JSON writes it otherwise."""
    if isinstance(value, dict):
        if repr(value) != json.dumps(value, ensure_ascii=False, default=str):
            yield repr(value)
        for item in value.values():
            yield from _printed(item)
    elif isinstance(value, list):
        for item in value:
            yield from _printed(item)
