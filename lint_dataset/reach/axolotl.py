"""axolotl 0.19: longer rows are dropped, cut, or stop the run (``excess_length_strategy``)."""

from __future__ import annotations

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, reached, supervised_tokens, too_long, whole
from lint_dataset.rows import Rows

#: ``min_sample_len``: rows of fewer tokens are dropped.
SHORTEST = 2


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows by their length; those without a label are dropped only where rows are packed.

    A configuration with a processor is not prepared at all: with media among the rows every row stays whole.
    """
    if len(rows.media.row):
        return reached(rows, plan, whole(rows))
    long = too_long(rows, plan)
    kept = cut(rows, plan) if plan.overlong == "cut" else whole(rows)
    trained = supervised_tokens(rows, plan, kept)
    dropped = rows.measured & (rows.tokens < SHORTEST)
    if plan.overlong == "drop":
        dropped |= long
    if plan.packing != "none":
        dropped |= rows.measured & (trained == 0)
    stops = long if plan.overlong == "raise" else np.zeros(len(rows), np.bool_)
    return reached(rows, plan, kept, trained, dropped=dropped & ~stops, stops=stops)
