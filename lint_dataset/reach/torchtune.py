"""torchtune 0.6: its tokenizers cut at the end and put the end-of-sequence token in place of the last token."""

from __future__ import annotations

from typing import Any

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, reached, too_long
from lint_dataset.reach.order import refused
from lint_dataset.rows import Rows


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows cut at ``max_length``, their last token overwritten, so that a cut answer looks finished.

    The tokenizers of Llama 3 and Qwen mask that token in the loss, those of Gemma, Mistral and Phi train on it.
    A packed dataset holds rows that the tokenizer has cut already, so that none is too long for it.
    A conversation whose messages are not in order stops the run.
    """
    stops = np.array([_refused(each or []) for each in rows.table.column("turns").to_pylist()], np.bool_)
    return reached(rows, plan, cut(rows, plan), sealed=too_long(rows, plan), stops=rows.measured & stops)


def _refused(turns: list[dict[str, Any]]) -> bool:
    """Whether a row is a conversation (not one text, nor a prompt and its completion) in an order that is refused."""
    roles = [turn["role"] for turn in turns]
    return bool(roles) and "text" not in roles and refused(roles) is not None
