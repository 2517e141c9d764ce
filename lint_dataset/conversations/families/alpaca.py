"""Alpaca: ``{"instruction": …, "input": …, "output": …}``, with ``system`` and ``history`` where there are any."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import label_faults, media_faults, tools_of
from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message, Part
from lint_dataset.faults import Fault


@family("alpaca", keys=(("instruction",), ("output", "response")), order=50)
def convert(row: dict[str, Any]) -> Converted:
    """One question and answer: the user says the instruction, a line break, and the input (LLaMA-Factory's way)."""
    answer_field = "output" if row.get("output") is not None else "response"
    faults = [_wrong(row, field) for field in ("instruction", "input", "system", answer_field)]
    faults += [] if _history(row) is not None else [Fault("S003", _history_type(row))]
    found = [fault for fault in faults if fault is not None]
    if row.get(answer_field) is None:
        found.append(Fault("S003", {"field": answer_field, "got": "null", "expected": "string"}))
    if found:
        return None, found
    messages = [_message("system", row["system"])] if row.get("system") else []
    for question, answer in _history(row) or []:
        messages += [_message("user", question), _message("assistant", answer)]
    question = "\n".join(filter(None, (row.get("instruction"), row.get("input"))))
    messages += [_message("user", question), _message("assistant", row[answer_field])]
    tools, found = tools_of(row)
    found += label_faults(row) + turn_faults(tuple(messages), row) + media_faults(row, messages)
    found.append(Fault("S008", {"family": "alpaca", "column": "instruction"}))
    return Conversation("alpaca", tuple(messages), tools), found


def _message(role: str, text: str) -> Message:
    return Message(role, (Part("text", text),) if text else (), {"role": role, "content": text})


def _wrong(row: dict[str, Any], field: str) -> Fault | None:
    value = row.get(field)
    if value is None or isinstance(value, str):
        return None
    return Fault("S003", {"field": field, "got": type_name(value), "expected": "string"})


def _history(row: dict[str, Any]) -> list[list[str]] | None:
    """The earlier questions and answers; None where they are not pairs of strings."""
    history = row.get("history") or []
    if not isinstance(history, list):
        return None
    pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in history)
    return history if pairs and all(isinstance(text, str) for pair in history for text in pair) else None


def _history_type(row: dict[str, Any]) -> dict[str, Any]:
    return {"field": "history", "got": type_name(row["history"]), "expected": "array of [question, answer] pairs"}
