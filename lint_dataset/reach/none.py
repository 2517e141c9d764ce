"""No trainer: a cut at max_length and nothing else."""

from __future__ import annotations

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, reached
from lint_dataset.rows import Rows


def reach(rows: Rows, plan: Plan) -> Reach:
    """Every measured row, cut at ``max_length``."""
    return reached(rows, plan, cut(rows, plan))
