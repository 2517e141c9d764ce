"""NeMo's GPTSFTChatDataset: rows are cut at the end, and one without a label left is trained on as a whole."""

from __future__ import annotations

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, reached, spans_of, supervised_tokens
from lint_dataset.rows import Rows


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows cut at ``max_length``, which counts inputs: the loss also sees the token that follows the last of them.

    Where a cut leaves no token of an answer, the loss is put on all ``max_length`` tokens: the prompt is trained on.
    """
    tokens = np.maximum(rows.tokens, 0)
    limit = tokens if plan.max_length is None else np.minimum(tokens, plan.max_length + 1)
    kept = spans_of(rows, 0, limit)
    trained = supervised_tokens(rows, plan, kept)
    unmasked = rows.measured & (limit < tokens) & (trained == 0)
    return reached(rows, plan, kept, np.where(unmasked, plan.max_length or 0, trained), unmasked=unmasked)
