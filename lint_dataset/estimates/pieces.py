"""Text in pieces, as byte-pair tokenizers cut it before they merge, and the features that a piece's cost depends on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from lint_dataset.rows import Ints

#: Sizes of the tables that the features index.
SIZES = (1024, 1024, 4096, 4096, 4096, 8192)

#: What a piece is: English and other words in Latin letters (both are estimated, a row takes one), the scripts whose
#: words cost alike, digits, signs, and the sign that ends a key of JSON.
KINDS = ("english", "latin", "han", "arabic", "indic", "letters", "digits", "signs", "keys")
ENGLISH, LATIN, HAN, ARABIC, INDIC, LETTERS, DIGITS, SIGNS, KEYS = range(len(KINDS))

#: Words and the spaces before them; very long ones are cut.
SPACED = re.compile(r" {,1000}[^ ]{1,1000}| {1,1000}")
_LONG = re.compile(r"[^ ]{1000}")
# Marks that combine with letters: Python counts them to no word.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0acd\u0b01-\u0b4d\u0b82-\u0bcd\u0c00-\u0c4d"
    "\u0c81-\u0ccd\u0d00-\u0d4d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u200c\u200d"
)
#: A word with the one space or sign before it, up to three digits, signs with the line breaks behind them, space.
PIECE = re.compile(
    rf"(?:[^\w\r\n]|_)?(?:[^\W\d_]|[{_MARKS}])+|\d{{1,3}}| ?(?:[^\w\s]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+|[\s\S]"
)


def chunks(text: str) -> list[str]:
    """A text cut at its spaces: words with the signs around them, each without the one space before it.

    Equal chunks recur, so their cost can be remembered. Indentation stays before its word, and very long runs are cut.
    """
    if "  " not in text and _LONG.search(text) is None:
        return text.split(" ")
    return [chunk[chunk.startswith(" ") :] for chunk in SPACED.findall(text)]


# First code point of each range of a script, and the script's number.
_SCRIPTS = (
    (0x41, 1), (0x80, 2), (0x250, 3), (0x370, 4), (0x400, 5), (0x530, 6), (0x590, 7), (0x600, 8), (0x780, 9),
    (0x900, 10), (0x980, 11), (0xE00, 12), (0x10A0, 13), (0x1100, 14), (0x1200, 13), (0x1E00, 2), (0x1F00, 4),
    (0x2000, 15), (0x2E80, 16), (0x3040, 17), (0x3100, 16), (0xAC00, 14), (0xD7B0, 13), (0xF900, 16), (0xFB00, 13),
    (0xFE00, 15), (0xFF00, 18), (0xFFF0, 15), (0x10000, 19), (0x1F000, 20), (0x20000, 21), (0x30000, 19),
)  # fmt: skip
_FIRST = np.array([first for first, _ in _SCRIPTS])
_SCRIPT = np.array([0, *(script for _, script in _SCRIPTS)], np.uint32)
#: What kind a word in each script is.
_KIND_OF_SCRIPT = np.full(32, LETTERS)
_KIND_OF_SCRIPT[[0, 1, 2]] = ENGLISH
_KIND_OF_SCRIPT[[16, 18, 21]] = HAN
_KIND_OF_SCRIPT[[7, 8, 9]] = ARABIC
_KIND_OF_SCRIPT[[10, 11, 12]] = INDIC

_CATEGORIES = {"Lu": 1, "Lt": 1, "Ll": 2, "Lm": 3, "Lo": 3, "Mn": 4, "Mc": 4, "Me": 4, "Nd": 5, "Nl": 5, "No": 5}
_UPPER, _MARK, _DIGIT, _SPACE, _BREAK, _OTHER_SPACE = 1, 4, 5, 8, 9, 6
_ONES = np.uint32(0x9E3779B1)
_MIXER = np.uint32(0x85EBCA6B)
_WIDE = np.uint64(0x9E3779B97F4A7C15)


class Pieces:
    """Pieces of text, end to end: ``starts`` are their first characters, with the number of all at the end."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Take the pieces as texts; none may be empty."""
        self.codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        self.starts: Ints = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=self.starts[1:])
        self.lengths: Ints = np.diff(self.starts)
        self.of = np.repeat(np.arange(len(texts)), self.lengths)
        self.place: Ints = np.arange(len(self.codes)) - self.starts[self.of]
        self.category = _categories()[np.minimum(self.codes, 0xFFFF)].astype(np.uint32)
        self.script = _SCRIPT[np.searchsorted(_FIRST, self.codes, side="right")]

    def accented(self) -> NDArray[np.bool_]:
        """Which pieces are words with a letter that English does not have."""
        accented = (self.script == 2) & (self.category >= _UPPER) & (self.category <= _MARK)
        found: NDArray[np.bool_] = np.logical_or.reduceat(accented, self.starts[:-1]) & (self.lengths > 1)
        return found

    def kinds(self) -> Ints:
        """The kind of each piece, by its first letter or digit; words in Latin letters are ``ENGLISH``."""
        counts = (self.category >= _UPPER) & (self.category <= _DIGIT)
        rank = np.where(counts, self.place, 1 << 40)
        first = np.minimum.reduceat(rank, self.starts[:-1])
        at_first = self.starts[:-1]
        at = at_first + np.where(first < 1 << 40, first, 0)
        kind = np.where(self.category[at] == _DIGIT, DIGITS, _KIND_OF_SCRIPT[self.script[at]])
        key = np.logical_or.reduceat((self.codes == ord('"')) & (self._neighbour(self.codes, -1) == ord(":")), at_first)
        return np.where(first < 1 << 40, kind, np.where(key, KEYS, SIGNS))

    def features(self, foreign: NDArray[np.bool_]) -> list[Ints]:
        """For each character its index into each table of ``SIZES``.

        ``foreign`` says of each piece whether its row is in another language than English.
        """
        profile = foreign[self.of].astype(np.uint32)
        found = [
            (_mix(state, profile) % np.uint32(size)).astype(np.int64)
            for state, size in zip(self._states, (*SIZES[:-1], SIZES[-1] - 1), strict=True)
        ]
        found[-1] = np.where(self.place == 0, found[-1] + 1, 0)
        return found

    @cached_property
    def _states(self) -> list[NDArray[np.uint32]]:
        """The hashes of what each feature looks at."""
        code = self.codes
        shape = self.category + self.script * np.uint32(16)
        before, before2 = self._neighbour(code, 1), self._neighbour(code, 2)
        behind, behind2 = self._neighbour(code, -1), self._neighbour(code, -2)
        left = self.lengths[self.of] - 1 - self.place
        three = _hash(code, before, behind)
        four = _mix(three, before2)
        return [
            _hash(shape, self._neighbour(shape, 1), self._neighbour(shape, -1), np.minimum(self.place, 3),
                  np.minimum(left, 3)),
            _hash(shape, np.minimum(self.place, 10), np.minimum(self.lengths[self.of], 16)),
            three,
            four,
            _mix(four, behind2),
            self._whole(),
        ]  # fmt: skip

    def _neighbour(self, values: NDArray[np.uint32], back: int) -> NDArray[np.uint32]:
        """The value that stands so many characters before (behind, where negative) in the same piece; 0 outside."""
        moved = np.zeros_like(values)
        if back > 0:
            moved[back:] = np.where(self.place[back:] >= back, values[:-back], 0)
        else:
            same = self.of[:back] == self.of[-back:]
            moved[:back] = np.where(same, values[-back:], 0)
        return moved

    def _whole(self) -> NDArray[np.uint32]:
        """A hash of the whole piece at each of its characters."""
        mixed = _mix(_mix(np.full(len(self.codes), 7, np.uint32), self.codes), self.place.astype(np.uint32) * _ONES)
        sums = np.zeros(len(mixed) + 1, np.uint64)
        np.cumsum(mixed.astype(np.uint64) * _WIDE, out=sums[1:])
        whole = (sums[self.starts[1:]] - sums[self.starts[:-1]]) >> np.uint64(32)
        hashes: NDArray[np.uint32] = whole.astype(np.uint32)[self.of]
        return hashes


def _mix(state: NDArray[np.uint32], value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    state = (state ^ value) * _MIXER
    mixed: NDArray[np.uint32] = np.bitwise_xor(state, state >> np.uint32(15))
    return mixed


def _hash(*values: NDArray[np.integer]) -> NDArray[np.uint32]:
    state = np.full(len(values[0]), _ONES, np.uint32)
    for value in values:
        state = _mix(state, value.astype(np.uint32, copy=False))
    return state


@cache
def _categories() -> NDArray[np.uint8]:
    """The category of every character of the basic plane (of those above it, none)."""
    table = np.zeros(0x10000, np.uint8)
    for code in range(0xFFFF):
        category = unicodedata.category(chr(code))
        table[code] = _CATEGORIES.get(category, _OTHER_SPACE if category in ("Zs", "Cc") else 0)
    table[ord(" ")], table[ord("\n")] = _SPACE, _BREAK
    return table
