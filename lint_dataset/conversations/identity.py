"""What makes two rows the same example, as hashes: for duplicates, whatever else their rows say."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from lint_dataset.conversations.shape import Conversation

#: Ends the identity of a conversation with media that are named by paths: the same name elsewhere is another file.
BESIDE = "+files"
_ASSISTANTS = ("assistant", "model")


def content_of(conversation: Conversation) -> str:
    """The identity of what is trained on: messages, tools, text and media, but no other column of the row."""
    named = any(
        part.kind != "text" and part.source is not None and not _bytes_of(part.source)
        for message in conversation.messages
        for part in message.parts
    )
    return _digest(conversation) + (BESIDE if named else "")


def answers_of(conversation: Conversation) -> str | None:
    """The identity of all that the assistant says in a row; None where it says nothing or nobody can tell."""
    if conversation.text is not None:
        start = conversation.completion
        said = [] if start is None else [conversation.text[start:].strip()]
    else:
        learnt = conversation.messages[conversation.completion or 0 :]
        spoken = [message for message in learnt if message.role in _ASSISTANTS]
        if any(message.has_tool_calls for message in spoken):
            return None
        said = [message.text.strip() for message in spoken]
    return _digest(said) if any(said) else None


def _digest(value: Any) -> str:
    text = json.dumps(value, default=_plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """What JSON does not have: the fields of a conversation but its family, and bytes by their hash."""
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if is_dataclass(value):
        kind: Any = type(value)
        return {name: held for name in _names(kind) if (held := getattr(value, name)) is not None}
    return str(value)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(sorted(field.name for field in fields(kind) if field.name != "family"))


def _bytes_of(source: Any) -> bool:
    return isinstance(source, bytes) or (isinstance(source, dict) and isinstance(source.get("bytes"), bytes))
