"""unsloth on TRL's SFTTrainer: rows are cut, and those left without a label are dropped with a printed count."""

from __future__ import annotations

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, reached, supervised_tokens, whole
from lint_dataset.rows import Rows


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows are cut at ``max_length``; with ``train_on_responses_only``, a loss on the assistant, those left bare go.

    Rows are cut before they are packed, so that ``bfd_split`` finds nothing to split.

    ``max_length`` is the model's ``max_seq_length`` or that of the configuration: which one counts has changed often.
    """
    kept = whole(rows) if plan.packing == "wrapped" else cut(rows, plan)
    trained = supervised_tokens(rows, plan, kept)
    dropped = rows.measured & (trained == 0) & (plan.loss_on == "assistant")
    return reached(rows, plan, kept, trained, dropped=dropped)
