"""No trainer: a cut at max_length and nothing else."""

from __future__ import annotations

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, supervised
from lint_dataset.rows import Rows


def reach(rows: Rows, plan: Plan) -> Reach:
    """Every measured row, cut at ``max_length``."""
    start, stop = cut(rows, plan)
    return Reach(start, stop, np.zeros(len(rows), np.bool_), supervised(rows, plan, start, stop))
