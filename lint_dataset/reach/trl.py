"""TRL's SFTTrainer, release 1.16: rows are cut at the end, and rows left without a supervised token are dropped."""

from __future__ import annotations

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, supervised
from lint_dataset.rows import Rows


def reach(rows: Rows, plan: Plan) -> Reach:
    """Every measured row, cut at ``max_length``; a row whose labels are all masked after the cut is dropped.

    Since TRL 1.9 that filter follows the truncation of a dataset that is not packed; no message names the rows.
    Without a limit there is neither.
    """
    start, stop = cut(rows, plan)
    trained = supervised(rows, plan, start, stop)
    dropped = rows.measured & (trained == 0) & (plan.max_length is not None)
    return Reach(start, stop, dropped, trained)
