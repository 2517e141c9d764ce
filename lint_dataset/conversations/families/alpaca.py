"""Alpaca: ``{"instruction": …, "input": …, "output": …}``, with ``system`` and ``history`` where there are any."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.building import build
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import label_faults, tools_of
from lint_dataset.conversations.history import history_of, string_faults
from lint_dataset.conversations.media_columns import place_media
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation


@family(
    "alpaca",
    keys=(("instruction",), ("output", "response")),
    order=50,
    read_by=("hf", "axolotl", "llama-factory", "ms-swift", "torchtune"),
)
def convert(row: dict[str, Any]) -> Converted:
    """One question and answer: the user says the instruction, a line break, and the input (LLaMA-Factory's way)."""
    answer = "output" if row.get("output") is not None or "response" not in row else "response"
    faults = string_faults(row, ("instruction", "input", "system", answer), needed=answer)
    history, found = history_of(row)
    faults += found
    if faults:
        return None, faults
    messages = [build("system", row["system"])] if row.get("system") else []
    question = "\n".join(filter(None, (row.get("instruction"), row.get("input"))))
    messages += [*history, build("user", question), build("assistant", row[answer])]
    tools, found = tools_of(row)
    found += label_faults(row) + turn_faults(tuple(messages), row)
    placed, more = place_media(messages, row)
    return Conversation("alpaca", placed, tools), found + more
