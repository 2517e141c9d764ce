"""ms-swift 4.6: longer rows are deleted, cut, or split (``truncation_strategy``)."""

from __future__ import annotations

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, cut, reached, too_long, whole
from lint_dataset.rows import Rows, Spans


def reach(rows: Rows, plan: Plan) -> Reach:
    """Rows by their length. A cut keeps every token of clips and images, and takes it from the text around them."""
    if plan.overlong == "drop":
        return reached(rows, plan, whole(rows), dropped=too_long(rows, plan))
    if plan.overlong == "split":
        return reached(rows, plan, whole(rows))
    return reached(rows, plan, _beside_media(rows, plan) if len(rows.media.row) else cut(rows, plan))


def _beside_media(rows: Rows, plan: Plan) -> Spans:
    """What a cut leaves: all media, and as much text from the plan's side as ``max_length`` then leaves room for."""
    row, start, end = [], [], []
    for index, tokens in enumerate(np.maximum(rows.tokens, 0).tolist()):
        protected = np.zeros(tokens, np.bool_)
        for i in np.flatnonzero(rows.media.row == index):
            protected[rows.media.start[i] : rows.media.end[i]] = True
        if plan.max_length is not None and tokens > plan.max_length:
            text = np.flatnonzero(~protected)
            room = max(0, plan.max_length - int(protected.sum()))
            protected[text[len(text) - room :] if plan.truncation_side == "left" else text[:room]] = True
        else:
            protected[:] = True
        edges = np.flatnonzero(np.diff(np.concatenate(([0], protected.view(np.int8), [0]))))
        row += [index] * (len(edges) // 2)
        start += edges[0::2].tolist()
        end += edges[1::2].tolist()
    return Spans(np.array(row, np.int64), np.array(start, np.int64), np.array(end, np.int64))
