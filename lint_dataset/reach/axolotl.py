"""axolotl 0.19: longer rows are dropped, cut, or stop the run (``excess_length_strategy``)."""

from __future__ import annotations

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, answers_in_loss, cut, reached, supervised_tokens, too_long, whole
from lint_dataset.rows import Ints, Rows, Spans

#: ``min_sample_len``: rows of fewer tokens are dropped.
SHORTEST = 2


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows by their length; those without a label are dropped only where rows are packed.

    A configuration with a processor is not prepared at all: with media among the rows every row stays whole,
    and its collator pads to the longest.
    """
    if len(rows.media.row):
        return reached(rows, plan.but(pad_to_max_length=False), whole(rows))
    long = too_long(rows, plan)
    kept = cut(rows, plan) if plan.overlong == "cut" else whole(rows)
    trained = _trained(rows, plan, kept)
    dropped = rows.measured & (rows.tokens < SHORTEST)
    if plan.overlong == "drop":
        dropped |= long
    if plan.packing != "none":
        dropped |= rows.measured & (trained == 0)
    stops = long if plan.overlong == "raise" else np.zeros(len(rows), np.bool_)
    return reached(rows, plan, kept, trained, dropped=dropped & ~stops, stops=stops)


def _trained(rows: Rows, plan: Plan, kept: Spans) -> Ints:
    """The kept tokens that the loss is on, in conversations.

    An empty answer is not trained on, its end-of-turn marker neither; and with ``train_on_inputs`` every turn is, but
    not the headers between them.
    """
    if plan.loss_on == "completion":
        return supervised_tokens(rows, plan, kept)
    if plan.loss_on != "all":
        spoken = rows.answers.text_end > rows.answers.start
        here = np.where(spoken & answers_in_loss(rows.answers, plan), rows.answers.within(kept), 0)
        return rows.answers.sum_by_row(here, len(rows))
    turns = [
        (row, turn["start"], turn["marker_end"])
        for row, said in enumerate(rows.table.column("turns").to_pylist())
        for turn in said or []
        if turn["end"] > turn["start"]
    ]
    row, start, end = np.array(turns, np.int64).reshape(-1, 3).T
    said = Spans(row, start, end)
    return said.sum_by_row(said.within(kept), len(rows))
