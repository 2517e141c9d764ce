"""PaLM on Vertex AI: ``{"context": …, "messages": [{"author": "user", "content": …}, {"author": "model", …}]}``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lint_dataset.conversations.building import build
from lint_dataset.conversations.families import messages
from lint_dataset.conversations.registry import Converted, family

_ROLES = frozenset({"system", "context", "user", "model"})
_NAMES = ("role", "author")


def _speaker(item: Any) -> Any:
    return next((item[name] for name in _NAMES if item.get(name) is not None), None) if isinstance(item, dict) else None


def _is_one(row: dict[str, Any]) -> bool:
    items = row.get("messages")
    if not isinstance(items, list):
        return False
    speakers = list(map(_speaker, items))
    return "model" in speakers and all(isinstance(name, str) and name in _ROLES for name in speakers)


@family(
    "palm",
    keys=(("messages",),),
    order=16,
    where=_is_one,
    also=("context",),
    like="messages",
    read_by=("Vertex AI",),
    wrongly="their answers have the role model, which templates leave out or print as it is",
)
def convert(row: dict[str, Any]) -> Converted:
    """Chat messages in which the model is the assistant, and the context the system prompt."""
    names = {"model": "assistant", "context": "system"}
    items = [
        {**{key: value for key, value in item.items() if key != "author"}, "role": names.get(said, said)}
        for item in row["messages"]
        for said in [_speaker(item)]
    ]
    if isinstance(row.get("context"), str) and row["context"]:
        items.insert(0, build("system", row["context"]).template)
    conversation, faults = messages.convert({**row, "messages": items})
    return (replace(conversation, family="palm") if conversation is not None else None), faults
