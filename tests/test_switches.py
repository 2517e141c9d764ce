"""Switches in the data count where the trainer reads them, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from lint_dataset.conversations import convert
from lint_dataset.judge import look
from lint_dataset.measurements import pack, schema
from lint_dataset.plan import Plan

USER, ANSWER = {"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}


def trained(row: dict[str, Any], trainer: str) -> list[bool]:
    """Which of a row's answers, each of 10 tokens, are in the loss of a trainer."""
    import pyarrow as pa

    conversation, faults = convert(row)
    assert conversation is not None
    turns, answers = [], []
    for number, message in enumerate(conversation.messages):
        place = {"start": 10 * number, "end": 10 * number + 9}
        turns.append({"role": message.role, **place, "marker_end": 10 * number + 10, "trained": message.trained})
        if message.role == "assistant":
            answers.append({"start": 10 * number, "end": 10 * number + 10})
    measured = {
        "path": "t.jsonl", "line": 1, "hash": "h", "family": "messages", "tokens": 10 * len(turns), "turns": turns,
        "answers": answers, "media": [], "faults": pack(faults),
    }  # fmt: skip
    judged = look(pa.Table.from_pylist([measured], schema()), Plan(trainer=trainer, loss_on="assistant"), None)
    if trainer != "llama-factory":  # the truncation that is modelled is not that of its v1, which reads the switch
        assert int(judged.reach.supervised[0]) == 10 * int(judged.rows.answers.trained.sum())
    return list(map(bool, judged.rows.answers.trained))


@pytest.mark.parametrize(
    ("switch", "reads"),
    [
        ({"weight": 0}, {"openai", "hf", "none"}),
        ({"train": False}, {"axolotl", "hf", "none"}),
        ({"training": False}, {"axolotl", "hf", "none"}),
        ({"training_detail": [{"begin_offset": 0, "end_offset": 0, "train": False}]}, {"axolotl", "hf", "none"}),
        ({"loss": False}, {"ms-swift", "hf", "none"}),
        ({"loss_scale": 0.0}, {"ms-swift", "hf", "none"}),
        ({"mask": True}, {"nemo", "hf", "none"}),
        ({"loss_weight": 0.0}, {"llama-factory", "hf", "none"}),
    ],
)
def test_who_reads_which(switch: dict[str, Any], reads: set[str]) -> None:
    row = {"messages": [USER, {**ANSWER, **switch}, USER, ANSWER]}
    for trainer in ("trl", "hf", "axolotl", "openai", "ms-swift", "nemo", "llama-factory", "none"):
        assert trained(row, trainer) == [trainer not in reads, True], trainer


def test_a_row_that_is_switched_off_as_a_whole() -> None:
    row = {"messages": [USER, {**ANSWER, "weight": 0}]}
    assert (trained(row, "trl"), trained(row, "openai")) == ([True], [False])
