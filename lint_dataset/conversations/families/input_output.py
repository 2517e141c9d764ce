"""Instructions as torchtune reads them: ``{"input": …, "output": …}``, with an ``image`` where there is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lint_dataset.conversations.families import alpaca
from lint_dataset.conversations.registry import Converted, family

#: Columns that hold the conversation where these two are something about it.
_TAKEN = ("instruction", "messages", "conversations", "conversation", "prompt", "query", "text", "chosen", "contents")


@family(
    "input-output",
    keys=(("input",), ("output",)),
    order=55,
    where=lambda row: isinstance(row.get("input"), str) and not any(row.get(name) is not None for name in _TAKEN),
    like="alpaca",
    read_by=("hf", "torchtune", "ms-swift"),
)
def convert(row: dict[str, Any]) -> Converted:
    """One question and answer."""
    conversation, faults = alpaca.convert(row)
    return (replace(conversation, family="input-output") if conversation is not None else None), faults
