"""KTO: a conversation whose answer a ``label`` calls good (true) or bad (false)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lint_dataset.conversations.families import messages, prompt_completion, sharegpt
from lint_dataset.conversations.registry import Converted, family

_SHAPES = (
    (("prompt", "completion"), prompt_completion.convert),
    (("messages",), messages.convert),
    (("conversations",), sharegpt.convert),
)


def _shape(row: dict[str, Any]) -> Any:
    """How the conversation beside the label is read; None where there is none."""
    has = (read for columns, read in _SHAPES if all(row.get(column) is not None for column in columns))
    return next(has, None)


@family(
    "kto",
    keys=(("label",),),
    order=5,
    where=lambda row: isinstance(row.get("label"), bool) and _shape(row) is not None,
    also=("prompt", "completion", "messages", "conversations"),
    like="messages",
)
def convert(row: dict[str, Any]) -> Converted:
    """The conversation itself: a KTO trainer pads it like any other. That a false label is no example is said."""
    conversation, faults = _shape(row)(row)
    return (replace(conversation, family="kto") if conversation is not None else None), faults
