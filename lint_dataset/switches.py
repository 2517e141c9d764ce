"""The fields that switch training off for an answer, and which trainers read which of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lint_dataset.rows import Rows

#: What a trainer reads, by its name in a plan. Code of one's own (hf, none) reads what it likes. Read in the sources of
#: TRL 1.16, axolotl 0.19 (where its config names the fields), LLaMA-Factory 0.9.5 (v1), ms-swift 4.6 and mlx-lm 0.32.
READ: dict[str, tuple[str, ...]] = {
    "trl": (),
    "unsloth": (),
    "torchtune": (),
    "mlx-lm": (),
    "axolotl": ("train", "training", "training_detail"),
    "llama-factory": ("loss_weight",),
    "ms-swift": ("loss", "loss_scale"),
    "nemo": ("mask",),
    "openai": ("weight",),
}
#: The faults that name the switches of a row.
CODES = ("M011", "M014")


def as_read(rows: Rows, trainer: str) -> Rows:
    """The rows with every answer trained on that is only switched off by fields that the trainer does not read."""
    reads = READ.get(trainer)
    if reads is None:
        return rows
    faults = rows.faults()
    deaf = np.zeros(len(rows), np.bool_)
    for code in CODES:
        for row, data in faults.get(code, ()):
            deaf[row] = not set(data["switches"]) & set(reads)
    if not deaf.any():
        return rows
    answers = rows.answers
    return replace(rows, answers=replace(answers, trained=answers.trained | deaf[answers.row]))
