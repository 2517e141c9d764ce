"""From tokens of each kind to an interval: how sure the estimate of a row is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lint_dataset.estimates.coefficients import Coefficients, Floats
from lint_dataset.estimates.pieces import ARABIC, DIGITS, ENGLISH, HAN, INDIC, KEYS, LATIN, LETTERS, SIGNS
from lint_dataset.rows import Ints

#: What a row mostly is.
GROUPS = ("english", "latin", "han", "arabic", "indic", "letters", "digits", "code", "json")
_SCRIPTS = ((LATIN, 1), (HAN, 2), (ARABIC, 3), (INDIC, 4), (LETTERS, 5))


class Interval(NamedTuple):
    """Tokens of each text: the likely number, and the ends of an interval that holds at least 95 of 100 rows."""

    low: Floats
    likely: Floats
    high: Floats


def interval(tokens: Floats, coefficients: Coefficients, group: Ints | None = None) -> Interval:
    """The interval of each text of ``tokens`` [text, kind], as ``tally.settle`` gives them.

    ``group`` is that of the row which the text is a part of, where it is not a row itself.
    """
    likely, deviation = spread(tokens, coefficients)
    ends = coefficients.ends[:, groups(tokens) if group is None else group]
    low = np.maximum(likely - ends[0] * deviation, 0)
    return Interval(low, likely, likely + ends[1] * deviation)


def spread(tokens: Floats, coefficients: Coefficients) -> tuple[Floats, Floats]:
    """The likely number of tokens of each row, and its standard deviation."""
    scaled = tokens * coefficients.scale
    likely = scaled.sum(axis=1)
    # The mean over a row's kinds, times the square of its tokens.
    variance = scaled @ coefficients.spread[0] + (scaled @ coefficients.spread[1]) * likely
    return likely, np.sqrt(variance)


def groups(tokens: Floats) -> Ints:
    """What each row mostly is, as an index into ``GROUPS``: a quarter of a script decides, then digits and signs."""
    total = np.maximum(tokens.sum(axis=1), 1e-9)
    group: Ints = np.zeros(len(tokens), np.int64)
    group[tokens[:, SIGNS] > 0.22 * total] = 7
    group[tokens[:, DIGITS] > 0.3 * total] = 6
    group[tokens[:, KEYS] > 0.02 * total] = 8
    best = np.full(len(tokens), 0.25)
    for kind, number in _SCRIPTS:
        share = tokens[:, kind] / total
        wins = (share > best) & (share > tokens[:, ENGLISH] / total)
        group[wins] = number
        best[wins] = share[wins]
    return group
