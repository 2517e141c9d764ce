"""TRL's SFTTrainer, releases 1.0 to 1.16."""

from __future__ import annotations

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.presets import version
from lint_dataset.reach import Reach, cut, reached, supervised_tokens, whole
from lint_dataset.rows import Bools, Rows

#: Since this release rows whose labels are all masked after the cut are left out, where rows are not packed.
_DROPS_SINCE = (1, 9)


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows are cut at ``max_length``, before packing too (``bfd``), or split there (``bfd_split``, ``wrapped``).

    No message names the rows that are left out. With a loss on the assistant alone, one row in which the assistant
    says nothing stops the run before anything is cut. Without a limit nothing is cut or left out.
    """
    kept = whole(rows) if plan.packing in ("bfd_split", "wrapped") else cut(rows, plan)
    trained = supervised_tokens(rows, plan, kept)
    drops = plan.max_length is not None and plan.packing == "none"
    drops = drops and (plan.trainer_release is None or version(plan.trainer_release) >= _DROPS_SINCE)
    stops = _unanswered(rows) if plan.loss_on == "assistant" else np.zeros(len(rows), np.bool_)
    dropped = rows.measured & (trained == 0) & ~stops & drops & ~_pairs(rows)
    return reached(rows, plan, kept, trained, dropped=dropped, stops=stops)


def _pairs(rows: Rows) -> Bools:
    """Rows of the DPOTrainer, which leaves none out."""
    pairs: Bools = np.array(rows.table.column("family").to_pylist(), object) == "preference"
    return pairs


def _unanswered(rows: Rows) -> Bools:
    """Conversations in which the assistant says nothing, not even an end-of-turn marker."""
    said = rows.answers.sum_by_row(rows.answers.end - rows.answers.start, len(rows))
    none: Bools = rows.measured & (said == 0)
    return none
