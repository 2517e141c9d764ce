"""From tokens of each kind to an interval: how sure the estimate of a row is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lint_dataset.estimates.coefficients import Coefficients, Floats
from lint_dataset.estimates.pieces import DIGITS, KINDS, LATIN, SIGNS
from lint_dataset.rows import Ints

#: What a row mostly is: words in Latin letters, words in other scripts, digits, or signs, as in code and JSON.
GROUPS = ("latin", "scripts", "digits", "signs")


class Interval(NamedTuple):
    """Tokens of each text: the likely number, and the ends of an interval that holds at least 95 of 100 rows."""

    low: Floats
    likely: Floats
    high: Floats


def interval(tokens: Floats, coefficients: Coefficients, group: Ints | None = None) -> Interval:
    """The interval of each text of ``tokens`` [text, column], as ``Tally`` gives them.

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
    """What each row mostly is, as an index into ``GROUPS``."""
    shares = tokens.reshape(len(tokens), 2, len(KINDS)).sum(axis=1) / np.maximum(tokens.sum(axis=1), 1e-9)[:, None]
    digits, signs = shares[:, DIGITS], shares[:, SIGNS]
    scripts = 1 - digits - signs - shares[:, LATIN]
    group: Ints = np.select([scripts > 0.25, digits > 0.3, signs > 0.22], [1, 2, 3], 0)
    return group
