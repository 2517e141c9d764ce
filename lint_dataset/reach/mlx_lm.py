"""mlx-lm: rows are cut at the end, and no row is dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, reached, spans_of
from lint_dataset.rows import Ints, Rows


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows cut at ``max_length``; with ``--mask-prompt`` the loss is on the last message, whoever says it.

    Where no such token is left in a whole batch, the loss is 0/0, and nothing guards against it. A row without a
    message before the last, and a plain text, cannot be masked and stop the run.
    """
    kept = cut(rows, plan)
    if plan.loss_on != "last":
        return reached(rows, plan, kept)
    turns = [each or [] for each in rows.table.column("turns").to_pylist()]
    trained = spans_of(rows, _last_message(rows, turns), np.maximum(rows.tokens, 0)).within(kept)
    stops = rows.measured & np.array([len(each) < 2 for each in turns], np.bool_)
    return reached(rows, plan, kept, trained, stops=stops)


def _last_message(rows: Rows, said: list[list[dict[str, Any]]]) -> Ints:
    """The first token that is trained on with ``--mask-prompt``.

    That of the last message, if the assistant says it; otherwise that of its header, which follows what is rendered
    behind the end of the message before.
    """
    first = np.zeros(len(rows), np.int64)
    for row, turns in enumerate(said):
        if turns and turns[-1]["role"] == "assistant":
            first[row] = turns[-1]["start"]
        elif len(turns) > 1:
            first[row] = turns[-2]["marker_end"] + max(0, int(rows.tokens[row]) - turns[-1]["marker_end"])
    return first
