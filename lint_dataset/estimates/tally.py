"""Tally texts: how many tokens of each kind each of them has, quickly, and whether its words are English."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from lint_dataset.estimates.coefficients import Coefficients, Floats
from lint_dataset.estimates.pieces import ENGLISH, KINDS, LATIN, PIECE, Pieces, chunks

#: A longer chunk is no word that comes again.
_LONGEST = 32
#: When so many chunks are remembered the memory is begun anew: it is bounded, and refilled in a moment.
_MOST = 400_000
#: Characters that are looked at together.
_PART_CHARACTERS = 200_000
#: The column behind the kinds: how much a text looks like another language than English in Latin letters.
_VOTES = len(KINDS)

#: Short words say what language a text is in: -1 for English, 1 for the others that are written in Latin letters.
WORD_VOTES = {
    f" {word}": vote
    for vote, words in (
        (
            -1,
            "the of and to is in for that with be this are it or not you as on if by can from an will which was",
        ),
        (
            1,
            "de la le les et des du que un une en est pour dans der die und das den ist zu el los y es di che il per "
            "e o da do och att som yang dan nie na w ve bir se si sur par pas au mit von para con",
        ),
    )
    for word in words.split()
}


class Tally:
    """Counts of one family's tokens. It remembers what words cost, so that the next text is quicker."""

    def __init__(self, coefficients: Coefficients) -> None:
        """Begin with an empty memory."""
        self._coefficients = coefficients
        self._forget()

    def tally(self, texts: Sequence[str]) -> Floats:
        """For each text the tokens of each kind [text, kind], and in the last column its votes (see ``foreign``).

        Words in Latin letters are counted twice, as ``ENGLISH`` and as ``LATIN``: ``settle`` drops one of them.
        """
        cut = [chunks(text) for text in texts]
        every = list(chain.from_iterable(cut))
        found = set(every)
        if len(self._known) + len(found) > _MOST:
            self._forget()
        new = found.difference(self._known)
        long = [chunk for chunk in new if len(chunk) > _LONGEST]
        short = [chunk for chunk in new if len(chunk) <= _LONGEST]
        for part in _parts(short + long):
            self._learn(part)
        counts = np.fromiter(map(len, cut), np.int64, len(cut))
        places = np.fromiter(map(self._known.__getitem__, every), np.int64, len(every))
        sums: Floats = np.zeros((len(texts), _VOTES + 1))
        filled = np.flatnonzero(counts)
        if len(filled):
            starts = np.cumsum(counts[filled]) - counts[filled]
            sums[filled] = np.add.reduceat(self._values[places], starts, axis=0, dtype=np.float64)
        for chunk in long:
            del self._known[chunk]
        return sums

    def _forget(self) -> None:
        self._known: dict[str, int] = {}
        self._values: NDArray[np.float32] = np.zeros((0, _VOTES + 1), np.float32)

    def _learn(self, new: Sequence[str]) -> None:
        """Remember the values of chunks, in the places behind those that are known."""
        cut = [PIECE.findall(f" {chunk}") for chunk in new]
        every = list(chain.from_iterable(cut))
        pieces = Pieces(every)
        of = np.repeat(np.arange(len(new)), [len(own) for own in cut])
        kinds = pieces.kinds()
        values = np.zeros((len(new), _VOTES + 1))
        english, other = (self._coefficients.costs(pieces, foreign) for foreign in (False, True))
        np.add.at(values, (of, kinds), english)
        words = kinds == ENGLISH
        np.add.at(values, (of[words], LATIN), other[words])
        values[:, _VOTES] = np.bincount(of, votes(every, pieces), len(new))
        first = len(self._known)
        self._known.update(zip(new, range(first, first + len(new)), strict=True))
        if first + len(new) > len(self._values):
            larger = np.zeros((2 * (first + len(new)), _VOTES + 1), np.float32)
            larger[:first] = self._values[:first]
            self._values = larger
        self._values[first : first + len(new)] = values


def _parts(chunks: Sequence[str]) -> Iterator[list[str]]:
    """Chunks in lists of so many characters that their features fit in little memory."""
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


def settle(tallies: Floats, votes: Floats) -> Floats:
    """Tallies with their Latin words counted once: as English, or, where the row's votes say so, as another language.

    ``votes`` are those of the whole row of each tally. Returns tokens [text, kind].
    """
    tokens: Floats = tallies[:, :_VOTES].copy()
    other = votes > 0
    tokens[other, ENGLISH] = 0
    tokens[~other, LATIN] = 0
    return tokens


def votes_of(tallies: Floats) -> Floats:
    """The votes of each text."""
    votes: Floats = tallies[:, _VOTES]
    return votes


def votes(texts: Sequence[str], pieces: Pieces) -> Floats:
    """1 for each piece that no English text has, -1 for one that most English texts have."""
    words = np.fromiter(map(WORD_VOTES.get, texts, repeat(0)), np.float64, len(texts))
    found: Floats = np.where(words == 0, pieces.accented(), words)
    return found
