"""ShareGPT: ``{"conversations": [{"from": "human", "value": …}, {"from": "gpt", "value": …}]}``.

Tool use is written as the turns ``function_call`` (the JSON of a call) and ``observation`` (what the tool said).
"""

from __future__ import annotations

import json
from typing import Any

from lint_dataset.conversations.chat import content_of, message_of, role_meant, trained_of
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import label_faults, media_faults, system_faults, tools_of, variables_of
from lint_dataset.conversations.faults import key_names, name_of, type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message
from lint_dataset.faults import Fault

_CALLS = ("function_call", "tool_call")


@family("sharegpt", keys=(("conversations",),), order=30)
def convert(row: dict[str, Any]) -> Converted:
    """Turns with the roles that templates know. TRL does not read a ``system`` column beside them, so it is said."""
    items = row["conversations"]
    if not isinstance(items, list):
        return None, [Fault("S003", {"field": "conversations", "got": type_name(items), "expected": "array"})]
    if not items:
        return None, [Fault("S004", {"field": "conversations"})]
    faults = _trainer_faults(items)
    messages: list[Message] = []
    broken = False
    for number, item in enumerate(items, start=1):
        message, found = _turn(item, number)
        faults += found
        if message is None:
            broken = True
        else:
            messages.append(message)
    tools, found = tools_of(row)
    variables, more = variables_of(row)
    faults += found + more + label_faults(row)
    if broken:
        return None, faults
    faults += turn_faults(tuple(messages), row) + system_faults(row, messages) + media_faults(row, messages)
    return Conversation("sharegpt", tuple(messages), tools, variables=variables), faults


def _turn(item: Any, number: int) -> tuple[Message | None, list[Fault]]:
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
    trained = trained_of(item)
    if speaker in _CALLS:
        calls = _calls(item["value"])
        if calls:
            template = {"role": role, "content": "", "tool_calls": calls}
            return Message(role, (), template, has_tool_calls=True, trained=trained), faults
        faults.append(Fault("M012", {"message": number, "problem": "call_text"}))
    return Message(role, parts, {"role": role, "content": item["value"]}, trained=trained), faults


def _calls(value: Any) -> list[dict[str, Any]] | None:
    """The tool calls that a function_call turn holds as JSON: one ``{"name", "arguments"}`` or a list of them."""
    try:
        calls = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return None
    calls = calls if isinstance(calls, list) else [calls]
    if not calls or not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        return None
    return [
        {"type": "function", "function": {"name": call["name"], "arguments": call.get("arguments", {})}}
        for call in calls
    ]


def _trainer_faults(items: list[Any]) -> list[Fault]:
    """What a trainer that only renames from/value would leave as it is: facts of the data, judged with the plan."""
    turns = [item for item in items if isinstance(item, dict)]
    if any("from" in turn for turn in turns):
        speakers = dict.fromkeys(turn.get("from") for turn in turns if isinstance(turn.get("from"), str))
        renamed = [name_of(speaker) for speaker in speakers if role_meant(str(speaker)) not in (None, speaker)]
        return [Fault("S007", {"roles": renamed})] if renamed else []
    return [Fault("S008", {"family": "sharegpt", "column": "conversations"})] if turns else []
