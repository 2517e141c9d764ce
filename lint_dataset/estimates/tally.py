"""Tally texts: how many tokens of each kind each of them has at least, quickly."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from lint_dataset.estimates.coefficients import Coefficients, Floats
from lint_dataset.estimates.pieces import COLUMNS, KINDS, PIECE, chunks, kinds

#: A longer chunk is no word that comes again.
_LONGEST = 32
#: When so many chunks are remembered the memory is begun anew: it is bounded, and refilled in a moment.
_MOST = 400_000
#: Characters that are looked at together.
_PART_CHARACTERS = 100_000


class Tally:
    """Counts of one family's tokens. It remembers what words cost, so that the next text is quicker."""

    def __init__(self, coefficients: Coefficients) -> None:
        """Begin with an empty memory."""
        self._coefficients = coefficients
        self._forget()

    def tally(self, texts: Sequence[str]) -> Floats:
        """For each text the fewest tokens of each kind [text, column] (``pieces.COLUMNS``)."""
        if self._coefficients.composed:
            texts = [unicodedata.normalize("NFC", text) for text in texts]
        cut = [chunks(text) for text in texts]
        every = list(chain.from_iterable(cut))
        found = set(every)
        if len(self._known) + len(found) > _MOST:
            self._forget()
        new = sorted(found.difference(self._known))
        long = [chunk for chunk in new if len(chunk) > _LONGEST]
        short = [chunk for chunk in new if len(chunk) <= _LONGEST]
        for part in _parts(short + long):
            self._learn(part)
        counts = np.fromiter(map(len, cut), np.int64, len(cut))
        places = np.fromiter(map(self._known.__getitem__, every), np.int64, len(every))
        sums: Floats = np.zeros((len(texts), COLUMNS))
        filled = np.flatnonzero(counts)
        if len(filled):
            starts = np.cumsum(counts[filled]) - counts[filled]
            sums[filled] = np.add.reduceat(self._values[places], starts, axis=0, dtype=np.float64)
        for chunk in long:
            del self._known[chunk]
        return sums

    def _forget(self) -> None:
        self._known: dict[str, int] = {}
        self._values: NDArray[np.int16] = np.zeros((0, COLUMNS), np.int16)

    def _learn(self, new: Sequence[str]) -> None:
        """Remember the tokens of chunks, in the places behind those that are known."""
        cut = [[chunk] if self._coefficients.whole else PIECE.findall(chunk) for chunk in new]
        pieces = list(chain.from_iterable(cut))
        of = np.repeat(np.arange(len(new)), [len(own) for own in cut])
        tokens = self._coefficients.sketch.fewest([piece.encode("utf-8", "surrogatepass") for piece in pieces])
        values = np.zeros((len(new), COLUMNS), np.int16)
        np.add.at(values, (of, kinds(pieces) + len(KINDS) * (tokens > 1)), tokens.astype(np.int16))
        first = len(self._known)
        self._known.update(zip(new, range(first, first + len(new)), strict=True))
        if first + len(new) > len(self._values):
            larger = np.zeros((2 * (first + len(new)), COLUMNS), np.int16)
            larger[:first] = self._values[:first]
            self._values = larger
        self._values[first : first + len(new)] = values


def _parts(chunks: Sequence[str]) -> Iterator[list[str]]:
    """Chunks in lists of so many characters that what is looked up for them fits in little memory."""
    part: list[str] = []
    size = 0
    for chunk in chunks:
        part.append(chunk)
        size += len(chunk)
        if size > _PART_CHARACTERS:
            yield part
            part, size = [], 0
    if part:
        yield part
