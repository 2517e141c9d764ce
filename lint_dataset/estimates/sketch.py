"""Which strings a tokenizer has a token for, as a sketch: fingerprints that say yes or no, and hold no vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lint_dataset.rows import Ints

#: Bits of a fingerprint. With 250,000 tokens one string in 4,000 that is no token is taken for one.
BITS = 30
#: Longer tokens (rows of signs, mostly) are left out. In bytes.
LONGEST = 32
#: Bytes of the longest character: tokens of one need not be made of tokens.
CHARACTER = 4
#: More than the tokens of any piece.
_MUCH = np.int16(10_000)
#: A first, coarser look that most strings do not pass.
_COARSE_BITS = 22
_MULTIPLIER = 0x9E3779B97F4A7C15
_INVERSE = pow(_MULTIPLIER, -1, 2**64)
_MIXER = np.uint64(0xBF58476D1CE4E5B9)

Bytes = NDArray[np.uint8]
Marks = NDArray[np.uint32]


class Sketch:
    """The fingerprints of a tokenizer's tokens of two bytes and more."""

    def __init__(self, marks: Marks, odd: Marks) -> None:
        """Take the fingerprints, sorted; ``odd`` are those among them whose tokens no two others make."""
        self.marks, self.odd = marks, odd
        self._coarse = np.zeros(1 << _COARSE_BITS, np.bool_)
        self._coarse[marks >> np.uint32(BITS - _COARSE_BITS)] = True

    def fewest(self, pieces: Sequence[bytes]) -> Ints:
        """The fewest tokens that each piece can be made of; no piece may be empty.

        What a tokenizer's merges come to is rarely more than a few in a hundred above that. Any single byte is a token.
        """
        if not pieces:
            return np.zeros(0, np.int64)
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        order = np.argsort(-lengths, kind="stable")
        lengths = lengths[order]
        data = np.frombuffer(b"".join(pieces[i] for i in order), np.uint8)
        steps = self._steps(data, lengths)
        # A piece has one place more than bytes: the fewest tokens up to there. What is before the first is never read.
        begins = np.cumsum(lengths + 1) - (lengths + 1)
        starts = np.cumsum(lengths) - lengths
        best = np.zeros(LONGEST + len(data) + len(lengths), np.int16)
        before = np.lib.stride_tricks.sliding_window_view(best, LONGEST)
        longer = np.searchsorted(-lengths, -np.arange(1, int(lengths[0]) + 1), side="right")
        for end, count in enumerate(longer.tolist(), 1):
            ways = before[begins[:count] + end] + steps[starts[:count] + (end - 1)]
            best[begins[:count] + (end + LONGEST)] = ways.min(axis=1)
        found: Ints = np.zeros(len(pieces), np.int64)
        found[order] = best[begins + lengths + LONGEST]
        return found

    def _steps(self, data: Bytes, lengths: Ints) -> NDArray[np.int16]:
        """Of each byte and size [byte, LONGEST - size]: 1 where a token of that size ends with it, else very much."""
        left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(data))
        sums, inverses = _sums(data)
        is_token = np.zeros((LONGEST + 1, len(data)), np.bool_)
        is_token[1] = True
        at = np.arange(len(data))
        for size in range(2, LONGEST + 1):
            at = at[left[at] >= size]
            marks = _marks((sums[at + size] - sums[at]) * inverses[at])
            likely = np.flatnonzero(self._coarse[marks >> np.uint32(BITS - _COARSE_BITS)])
            places = np.minimum(np.searchsorted(self.marks, marks[likely]), len(self.marks) - 1)
            likely = likely[self.marks[places] == marks[likely]]
            found = at[likely]
            if size > CHARACTER:
                # Merges make tokens of tokens: what is none by its parts has a fingerprint by chance.
                parts = [is_token[part, found] & is_token[size - part, found + part] for part in range(1, size)]
                found = found[np.logical_or.reduce([*parts, np.isin(marks[likely], self.odd)])]
            is_token[size, found] = True
        steps = np.full((len(data), LONGEST), _MUCH, np.int16)
        for size in range(1, LONGEST + 1):
            steps[np.flatnonzero(is_token[size]) + (size - 1), LONGEST - size] = 1
        return steps


def fingerprints(tokens: Sequence[bytes]) -> Marks:
    """The sorted fingerprints of tokens, for a sketch; those that are too short or too long are left out."""
    kept = [token for token in tokens if 2 <= len(token) <= LONGEST]
    data = np.frombuffer(b"".join(kept), np.uint8)
    lengths = np.fromiter(map(len, kept), np.int64, len(kept))
    ends = np.cumsum(lengths)
    starts = ends - lengths
    sums, inverses = _sums(data)
    return np.unique(_marks((sums[ends] - sums[starts]) * inverses[starts]))


def _sums(data: Bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Sums of bytes times powers of an odd number, and the inverses of the powers, all modulo 2**64.

    The difference of two sums times the inverse at the first is a hash of the bytes between, wherever they stand.
    """
    with np.errstate(over="ignore"):
        powers, inverses = (_powers(factor, len(data)) for factor in (_MULTIPLIER, _INVERSE))
        sums = np.zeros(len(data) + 1, np.uint64)
        np.cumsum((data.astype(np.uint64) + np.uint64(1)) * powers, out=sums[1:])
    return sums, inverses


def _powers(factor: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, factor, np.uint64)
    powers[:1] = 1
    found: NDArray[np.uint64] = np.cumprod(powers, dtype=np.uint64)
    return found


def _marks(hashes: NDArray[np.uint64]) -> Marks:
    """The fingerprints of hashes: their bits mixed, and the highest of them."""
    mixed = (hashes ^ (hashes >> np.uint64(32))) * _MIXER
    found: Marks = ((mixed ^ (mixed >> np.uint64(29))) * _MIXER >> np.uint64(64 - BITS)).astype(np.uint32)
    return found
