"""What of each example reaches the device: one file a trainer, from spans and the limit to what is kept.

A trainer's file has one function, ``reach(rows, plan) -> Reach``, and is found by the trainer's name.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.rows import Answers, Bools, Ints, Rows


@dataclass(frozen=True)
class Reach:
    """What is kept of each row: the tokens ``[start, stop)``, unless the trainer drops the row.

    ``supervised`` counts the kept tokens that the loss is computed on. Rows that could not be measured keep nothing.
    """

    start: Ints
    stop: Ints
    dropped: Bools
    supervised: Ints

    @property
    def tokens(self) -> Ints:
        """Tokens of each row that reach the device."""
        return np.where(self.dropped, 0, self.stop - self.start)


def reach(rows: Rows, plan: Plan) -> Reach:
    """What the plan's trainer lets through of each row."""
    trainer = importlib.import_module(f"{__name__}.{plan.trainer}")
    result: Reach = trainer.reach(rows, plan)
    return result


def cut(rows: Rows, plan: Plan) -> tuple[Ints, Ints]:
    """The tokens ``[start, stop)`` of each row that a cut at ``max_length`` on the plan's side leaves."""
    tokens = np.maximum(rows.tokens, 0)
    kept = tokens if plan.max_length is None else np.minimum(tokens, plan.max_length)
    if plan.truncation_side == "left":
        return tokens - kept, tokens
    return np.zeros_like(kept), kept


def answers_in_loss(answers: Answers, plan: Plan) -> Bools:
    """Which answers the loss is computed on, by the plan's ``loss_on`` and the switches in the data."""
    if plan.loss_on == "all":
        return np.ones(len(answers.row), np.bool_)
    return answers.trained & answers.last if plan.loss_on == "last" else answers.trained


def supervised(rows: Rows, plan: Plan, start: Ints, stop: Ints) -> Ints:
    """How many of the kept tokens ``[start, stop)`` of each row the loss is computed on.

    ``completion`` is every token from the completion on in prompt/completion rows, and every token in the others.
    """
    if plan.loss_on in ("all", "completion"):
        first = np.maximum(start, rows.completion) if plan.loss_on == "completion" else start
        return np.maximum(0, stop - first)
    overlap = rows.answers.overlap(start, stop)
    return rows.answers.sum_by_row(np.where(answers_in_loss(rows.answers, plan), overlap, 0), len(rows))
