"""Earlier questions and answers beside the last one: ``history: [["…", "…"], …]`` (Alpaca's and ms-swift's)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lint_dataset.conversations.building import build
from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.shape import Message
from lint_dataset.faults import Fault


def history_of(row: dict[str, Any]) -> tuple[list[Message], list[Fault]]:
    """The messages of the history, or the fault where it is not pairs of strings."""
    history = row.get("history") or []
    pairs = isinstance(history, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in history)
    if not pairs or not all(isinstance(text, str) for pair in history for text in pair):
        expected = "array of [question, answer] pairs"
        return [], [Fault("S003", {"field": "history", "got": type_name(row["history"]), "expected": expected})]
    return [message for pair in history for message in (build("user", pair[0]), build("assistant", pair[1]))], []


def string_faults(row: dict[str, Any], fields: Iterable[str], needed: str) -> list[Fault]:
    """The fields of a row that are no strings. Null is none where the field is not the ``needed`` one."""
    wrong = [name for name in fields if not isinstance(row.get(name), str) and (row.get(name) is not None)]
    wrong += [needed] if row.get(needed) is None else []
    return [Fault("S003", {"field": name, "got": type_name(row.get(name)), "expected": "string"}) for name in wrong]
