"""unsloth on TRL's SFTTrainer: rows are cut, and those left without a label are dropped with a printed count."""

from __future__ import annotations

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, reached, supervised_tokens, whole
from lint_dataset.rows import Rows


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows are cut at ``max_length``; with ``train_on_responses_only``, a loss on the assistant, those left bare go.

    ``max_length`` is the model's ``max_seq_length`` or that of the configuration: which one counts has changed often.
    """
    kept = whole(rows) if plan.packing in ("bfd_split", "wrapped") else cut(rows, plan)
    trained = supervised_tokens(rows, plan, kept)
    drops = plan.loss_on == "assistant" and plan.packing == "none"
    dropped = rows.measured & (trained == 0) if drops else np.zeros(len(rows), np.bool_)
    return reached(rows, plan, kept, trained, dropped=dropped)
