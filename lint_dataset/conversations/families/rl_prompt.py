"""Prompts for reinforcement learning: a conversation without its answer, and what a grader compares an answer with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lint_dataset.conversations.building import build
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.families import messages
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation

_REFERENCES = ("reference_answer", "ground_truth", "reward_model", "solution")


def _is_one(row: dict[str, Any]) -> bool:
    """Whether the list of messages has no answer, or the prompt no completion."""
    items = row.get("messages") if row.get("messages") is not None else row.get("prompt")
    if isinstance(items, str):
        return bool(items) and row.get("completion") is None
    return (
        isinstance(items, list)
        and all(isinstance(item, dict) for item in items)
        and bool(items)
        and items[-1].get("role") == "user"
        and row.get("completion") is None
    )


@family(
    "rl-prompt",
    keys=(("messages", "prompt"), _REFERENCES),
    order=8,
    where=_is_one,
    also=("prompt",),
    like="messages",
)
def convert(row: dict[str, Any]) -> Converted:
    """The prompt as it is. That it has no answer to learn is said."""
    prompt = row["messages"] if row.get("messages") is not None else row["prompt"]
    if isinstance(prompt, str):
        asked = (build("user", prompt),)
        return Conversation("rl-prompt", asked), turn_faults(asked, row)
    conversation, faults = messages.convert({**row, "messages": prompt})
    return (replace(conversation, family="rl-prompt") if conversation is not None else None), faults
