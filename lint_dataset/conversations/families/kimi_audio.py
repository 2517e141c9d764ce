"""Kimi-Audio: ``{"conversation": [{"role": "user", "message_type": "audio", "content": "1.wav"}, …]}``."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.building import build, merged
from lint_dataset.conversations.chat import switch_of
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.faults import name_of, type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message, Part
from lint_dataset.faults import Fault


def _is_one(row: dict[str, Any]) -> bool:
    items = row.get("conversation")
    return isinstance(items, list) and any(isinstance(item, dict) and "message_type" in item for item in items)


@family("kimi-audio", keys=(("conversation",),), order=14, where=_is_one, read_by=("Kimi-Audio",))
def convert(row: dict[str, Any]) -> Converted:
    """Messages of text and audio. What somebody says in several messages in a row, as is usual here, is one turn."""
    messages: list[Message] = []
    faults: list[Fault] = []
    for number, item in enumerate(row["conversation"], start=1):
        message, fault = _message(item, number)
        if fault is not None:
            faults.append(fault)
        elif message is not None:
            messages.append(message)
    if faults:
        return None, faults
    together = merged(messages)
    return Conversation("kimi-audio", together), turn_faults(together, row)


def _message(item: Any, number: int) -> tuple[Message | None, Fault | None]:
    if not isinstance(item, dict):
        return None, Fault("M001", {"message": number, "got": type_name(item)})
    role, content, kind = item.get("role"), item.get("content"), item.get("message_type", "text")
    if not isinstance(role, str):
        return None, Fault("M002", {"message": number, "keys": [], "got": type_name(role)})
    if kind == "audio" and isinstance(content, (str, dict, bytes)):
        parts = [Part("audio", "", content, "audio")]
    elif kind == "text" and isinstance(content, str):
        parts = [Part("text", content)] if content else []
    elif kind == "audio-text" and isinstance(content, list) and len(content) == 2 and isinstance(content[1], str):
        parts = [Part("audio", "", content[0], "audio"), Part("text", content[1])]
    elif kind in ("audio", "text", "audio-text"):
        return None, Fault("M005", {"message": number, "key": "content", "got": type_name(content)})
    else:
        return None, Fault("M010", {"message": number, "part": 1, "problem": "unknown_type", "type": name_of(kind)})
    trained, switch = switch_of(item)
    return build(role, parts, trained=trained, switch=switch), None
