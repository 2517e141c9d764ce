"""Turns in ShareGPT's spelling, ``{"from": "human", "value": …}``, brought to chat messages.

Tool use is written as the turns ``function_call`` (the JSON of a call) and ``observation`` (what the tool said).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from lint_dataset.conversations.building import call_of
from lint_dataset.conversations.chat import content_of, message_of, role_meant, switch_of
from lint_dataset.conversations.faults import key_names, name_of, type_name
from lint_dataset.conversations.shape import Message
from lint_dataset.faults import Fault

_CALLS = ("function_call", "tool_call")


def turns_of(items: list[Any], first: int = 1, mask: Any = None) -> tuple[tuple[Message, ...] | None, list[Fault]]:
    """Read a list of turns; None where one could not be rendered. ``first`` is the number of the first one.

    ``mask`` is NeMo's: the speaker on whose turns there is no training.
    """
    messages: list[Message] = []
    faults: list[Fault] = []
    broken = False
    for number, item in enumerate(items, start=first):
        message, found = turn_of(item, number)
        faults += found
        if message is None:
            broken = True
        elif isinstance(mask, str) and message.trained is None and item.get("from") == mask:
            messages.append(replace(message, trained=False, switch="mask"))
        else:
            messages.append(message)
    return (None if broken else tuple(messages)), faults


def turn_of(item: Any, number: int) -> tuple[Message | None, list[Fault]]:
    """Read one turn, or one chat message where it is one. ``number`` is its place in the row, from 1."""
    if not isinstance(item, dict) or ("from" not in item and "role" in item):
        return message_of(item, number)
    speaker = item.get("from")
    if not isinstance(speaker, str):
        got = type_name(speaker) if "from" in item else None
        return None, [Fault("M002", {"message": number, "keys": key_names(item), "got": got, "key": "from"})]
    meant = role_meant(speaker)
    faults = [] if meant else [Fault("M006", {"message": number, "role": name_of(speaker), "meant": None})]
    parts, found = content_of(item, "value", number, needed=True)
    faults += found
    if parts is None:
        return None, faults
    role = meant or speaker
    trained, switch = switch_of(item)
    if speaker in _CALLS:
        calls = calls_in(item["value"])
        if calls:
            template = {"role": role, "content": "", "tool_calls": calls}
            return Message(role, (), template, True, trained, switch), faults
        faults.append(Fault("M012", {"message": number, "problem": "call_text"}))
    return Message(role, parts, {"role": role, "content": item["value"]}, False, trained, switch), faults


def calls_in(value: Any) -> list[dict[str, Any]] | None:
    """The tool calls that a text holds as JSON: one ``{"name", "arguments"}`` or a list of them; None if it does not.

    Arguments stay as they are: whether a template takes an object or its text is for the template to say.
    """
    try:
        calls = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return None
    calls = calls if isinstance(calls, list) else [calls]
    if not calls or not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        return None
    return [call_of(call["name"], call.get("arguments", {})) for call in calls]
