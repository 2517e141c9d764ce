"""From the bytes of one line to a conversation: parse its JSON, recognise its schema family, bring it to one shape."""

from __future__ import annotations

from lint_dataset.conversations.line import parse
from lint_dataset.conversations.reading import AS_IT_IS, Reading
from lint_dataset.conversations.registry import convert
from lint_dataset.conversations.shape import Conversation, Message, Part

__all__ = ["AS_IT_IS", "Conversation", "Message", "Part", "Reading", "convert", "parse"]
