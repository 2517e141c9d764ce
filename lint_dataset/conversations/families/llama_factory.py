"""LLaMA-Factory v1: ``{"messages": [{"role": …, "content": [{"type": "text", "value": …}], "loss_weight": 1.0}]}``."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.building import build
from lint_dataset.conversations.chat import ROLES, role_meant, switch_of
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import label_faults, tools_of
from lint_dataset.conversations.content import parts_of
from lint_dataset.conversations.faults import key_names, name_of, type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message
from lint_dataset.conversations.turns import calls_in
from lint_dataset.faults import Fault


def has_values(items: Any) -> bool:
    """Whether messages have parts whose words stand under ``value``."""
    contents = [item.get("content") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return any(isinstance(part, dict) and "value" in part and part.get("text") is None for part in parts)


@family(
    "llama-factory-v1",
    keys=(("messages",),),
    order=12,
    where=lambda row: has_values(row.get("messages")),
    like="messages",
    read_by=("llama-factory",),
    wrongly="their parts have their words under value, which templates do not print",
)
def convert(row: dict[str, Any]) -> Converted:
    """Chat messages: reasoning and tool calls become fields of their messages."""
    messages, faults = messages_of(row["messages"])
    tools, found = tools_of(row)
    faults += found + label_faults(row)
    if messages is None:
        return None, faults
    return Conversation("llama-factory-v1", messages, tools), faults + turn_faults(messages, row)


def messages_of(items: list[Any], first: int = 1) -> tuple[tuple[Message, ...] | None, list[Fault]]:
    """Read a list of messages; None where one could not be rendered. ``first`` is the number of the first one."""
    read = [_message(item, number) for number, item in enumerate(items, start=first)]
    faults = [fault for _, found in read for fault in found]
    messages = tuple(message for message, _ in read if message is not None)
    return (messages if len(messages) == len(items) else None), faults


def _message(item: Any, number: int) -> tuple[Message | None, list[Fault]]:
    if not isinstance(item, dict):
        return None, [Fault("M001", {"message": number, "got": type_name(item)})]
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str):
        got = type_name(role) if "role" in item else None
        return None, [Fault("M002", {"message": number, "keys": key_names(item), "got": got})]
    if not isinstance(content, (str, list)):
        return None, [Fault("M005", {"message": number, "key": "content", "got": type_name(content)})]
    faults = []
    if role not in ROLES:
        faults.append(Fault("M006", {"message": number, "role": name_of(role), "meant": role_meant(role)}))
    reasoning, calls, rest = "", [], []
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind, value = (part.get("type"), part.get("value")) if isinstance(part, dict) else (None, None)
        if kind == "reasoning" and isinstance(value, str):
            reasoning += value
        elif kind == "tool_call" and isinstance(value, str):
            found = calls_in(value)
            calls += found or []
            faults += [] if found else [Fault("M012", {"message": number, "problem": "call_value"})]
        else:
            # A text under "value" is a text; media have their paths there, which is read anyway.
            rest.append({**part, "text": value} if kind == "text" and part.get("text") is None else part)
    parts, found_faults = parts_of(rest, number)
    faults += found_faults
    if parts is None:
        return None, faults
    trained, switch = switch_of(item)
    message = build(role, parts, calls=calls, reasoning=reasoning, trained=trained, switch=switch)
    return message, faults
