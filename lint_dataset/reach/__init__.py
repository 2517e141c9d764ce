"""What of each example reaches the device: one file a trainer, from spans and the limit to what is kept.

A trainer's file has one function, ``reach(rows, plan) -> Reach``, and is found by the trainer's name.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.rows import Answers, Bools, Ints, Rows, Spans


@dataclass(frozen=True)
class Reach:
    """What becomes of each row. Rows that could not be measured keep nothing."""

    #: The tokens that are kept, as spans in order, one or more a row; of a row that is dropped, what was left of it.
    kept: Spans
    #: How many of the kept tokens the loss is computed on.
    supervised: Ints
    #: The trainer leaves the row out.
    dropped: Bools
    #: The trainer stops with an error at the row.
    stops: Bools
    #: The loss would be on nothing, and the trainer puts it on every token instead.
    unmasked: Bools
    #: The last token that is kept is overwritten with the end-of-sequence token.
    sealed: Bools
    #: Tokens of the sequence that holds the row on the device: 0 where nothing of it gets there.
    step: Ints

    @property
    def tokens(self) -> Ints:
        """Tokens of each row that reach the device."""
        kept = self.kept.sum_by_row(self.kept.end - self.kept.start, len(self.supervised))
        return np.where(self.dropped | self.stops, 0, kept)


def reach(rows: Rows, plan: Plan) -> Reach:
    """What the plan's trainer lets through of each row."""
    trainer = importlib.import_module(f"{__name__}.{plan.trainer.replace('-', '_')}")
    result: Reach = trainer.reach(rows, plan)
    return result


def reached(
    rows: Rows,
    plan: Plan,
    kept: Spans,
    supervised: Ints | None = None,
    *,
    dropped: Bools | None = None,
    stops: Bools | None = None,
    unmasked: Bools | None = None,
    sealed: Bools | None = None,
) -> Reach:
    """A reach where only what differs from the usual is said: nothing is dropped, the plan's mask holds.

    A packed row is part of a sequence that is filled to ``max_length``; a row in pieces is never more than that. Where
    rows are padded, they are so to ``max_length``, rounded up as the trainer does, or to several times as many.
    """
    no = np.zeros(len(rows), np.bool_)
    dropped, stops = (no if dropped is None else dropped), (no if stops is None else stops)
    trained = supervised_tokens(rows, plan, kept) if supervised is None else supervised
    step = kept.sum_by_row(kept.end - kept.start, len(rows))
    if plan.packing != "none" and plan.max_length is not None:
        step = np.where(step > 0, plan.max_length, 0)
    elif plan.max_length is not None and plan.overlong == "split":
        step = np.minimum(step, plan.max_length)
    if plan.pad_to_max_length and plan.max_length is not None:
        padded = -(-plan.max_length // plan.preset.pad_multiple) * plan.preset.pad_multiple
        step = -(-step // padded) * padded
    step = np.where(dropped | stops, 0, step)
    return Reach(
        kept,
        trained,
        dropped,
        stops,
        no if unmasked is None else unmasked,
        no if sealed is None else sealed,
        step,
    )


def spans_of(rows: Rows, start: Ints | int, end: Ints | int) -> Spans:
    """One span of every row."""
    row = np.arange(len(rows))
    return Spans(row, *(np.broadcast_to(edge, row.shape).astype(np.int64) for edge in (start, end)))


def whole(rows: Rows) -> Spans:
    """Every token of every row."""
    return spans_of(rows, 0, np.maximum(rows.tokens, 0))


def too_long(rows: Rows, plan: Plan) -> Bools:
    """Which rows are longer than the plan's ``max_length``."""
    return np.zeros(len(rows), np.bool_) if plan.max_length is None else rows.tokens > plan.max_length


def cut(rows: Rows, plan: Plan) -> Spans:
    """What a cut at ``max_length`` on the plan's side leaves of each row."""
    tokens = np.maximum(rows.tokens, 0)
    kept = tokens if plan.max_length is None else np.minimum(tokens, plan.max_length)
    return spans_of(rows, tokens - kept, tokens) if plan.truncation_side == "left" else spans_of(rows, 0, kept)


@dataclass(frozen=True)
class Losses:
    """What the answers lose that the loss is on: an element for each answer of the rows."""

    #: How many of its tokens are kept.
    kept: Ints
    #: Nothing of it is.
    gone: Bools
    #: Something is, and its last token is not.
    cut: Bools

    @classmethod
    def of(cls, rows: Rows, plan: Plan, reach: Reach) -> Losses:
        """What is lost of each answer, in rows that are dropped for it too."""
        answers = rows.answers
        kept = answers.within(reach.kept)
        counted = answers_in_loss(answers, plan) & (answers.end > answers.start)
        ended = Spans(answers.row, answers.end - 1, answers.end).within(reach.kept) > 0
        return cls(kept, counted & (kept == 0), counted & (kept > 0) & ~ended)


def answers_in_loss(answers: Answers, plan: Plan) -> Bools:
    """Which answers the loss is computed on, by the plan's ``loss_on`` and the switches in the data."""
    if plan.loss_on == "all":
        return np.ones(len(answers.row), np.bool_)
    return answers.trained & answers.last if plan.loss_on == "last" else answers.trained


def supervised_tokens(rows: Rows, plan: Plan, kept: Spans) -> Ints:
    """How many of the kept tokens of each row the loss is computed on.

    ``completion`` is every token from the completion on in prompt/completion rows, and every token in the others.
    """
    if plan.loss_on in ("all", "completion"):
        first = np.maximum(rows.completion, 0) if plan.loss_on == "completion" else 0
        return spans_of(rows, first, np.maximum(rows.tokens, first)).within(kept)
    here = rows.answers.within(kept)
    return rows.answers.sum_by_row(np.where(answers_in_loss(rows.answers, plan), here, 0), len(rows))
