"""Nulls that nobody wrote: a table gives every tool and every call the fields of all the others.

Parquet and Arrow hold objects as structs. What one tool call of a file has as an argument, all others then have as a
null, and transformers and most trainers hand it to the template as it is: ``"arguments": {"city": "Oslo", "x": null}``.
Nothing is taken out here either, so that what is counted is what is trained on. (ms-swift drops such nulls from tools;
TRL has ``remove_none_values`` for people to call.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lint_dataset.conversations.faults import key_names
from lint_dataset.conversations.shape import Conversation
from lint_dataset.faults import Fault


def padding_faults(conversation: Conversation) -> list[Fault]:
    """Parameters without a schema, and null arguments that are no parameters of the function that is called."""
    if not conversation.tools and not any(message.has_tool_calls for message in conversation.messages):
        return []
    known: dict[Any, set[str]] = {}
    nulls: dict[str, None] = {}
    for tool in conversation.tools or ():
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        parameters = function.get("parameters") if isinstance(function, dict) else None
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        if isinstance(function, dict) and isinstance(properties, dict):
            known[str(function.get("name"))] = {name for name, schema in properties.items() if schema is not None}
            nulls |= {name: None for name, schema in properties.items() if schema is None}
    faults = [Fault("M015", {"where": "tools", "names": key_names(nulls)})] if nulls else []
    for number, name, arguments in _calls(conversation):
        unasked = [key for key, value in arguments.items() if value is None and key not in known.get(name, {key})]
        if unasked:
            faults.append(Fault("M015", {"where": "call", "message": number, "names": key_names(unasked)}))
    return faults


def _calls(conversation: Conversation) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The tool calls whose arguments are objects: number of the message, name of the function, arguments."""
    for number, message in enumerate(conversation.messages, start=1):
        calls = message.template.get("tool_calls") if message.has_tool_calls else None
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function", call) if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
                yield number, str(function.get("name")), function["arguments"]
