"""Text in pieces, as byte-pair tokenizers cut it before they merge, and what kind of text a piece is."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lint_dataset.rows import Ints

#: What a piece is: a word, by its script, digits, or signs.
KINDS = (
    "latin", "greek", "cyrillic", "hebrew", "arabic", "indic", "south east asian", "hangul", "kana", "han", "letters",
    "digits", "signs",
)  # fmt: skip
#: Tokens are tallied by the kind of their piece: first those that are a piece whole, then those of pieces that are cut.
COLUMNS = 2 * len(KINDS)
LATIN, DIGITS, SIGNS = KINDS.index("latin"), KINDS.index("digits"), KINDS.index("signs")

#: A chunk is no longer than this, in characters: what has no spaces is cut, at the cost of a token at most.
LONGEST = 200
_SPACED = re.compile(rf" {{,{LONGEST}}}[^ ]{{1,{LONGEST}}}| {{1,{LONGEST}}}")
_LONG = re.compile(rf"[^ ]{{{LONGEST}}}")
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
    """A text cut before its spaces: words with the signs around them, each with the one space before it.

    Equal chunks recur, so their cost can be remembered. Indentation stays before its word, and very long runs are cut.
    """
    if "  " not in text and _LONG.search(text) is None:
        first, *others = text.split(" ")
        return [*([first] if first else []), *(f" {other}" for other in others)]
    return _SPACED.findall(text)


# First code point of each range of a script, and the kind of its words.
_SCRIPTS = (
    (0, "latin"), (0x370, "greek"), (0x400, "cyrillic"), (0x530, "letters"), (0x590, "hebrew"), (0x600, "arabic"),
    (0x900, "indic"), (0xE00, "south east asian"), (0xF00, "letters"), (0x1000, "south east asian"),
    (0x10A0, "letters"), (0x1100, "hangul"), (0x1200, "letters"), (0x1E00, "latin"), (0x1F00, "greek"),
    (0x2000, "letters"), (0x2E80, "han"), (0x3040, "kana"), (0x3100, "han"), (0x3130, "hangul"), (0x3190, "han"),
    (0xA000, "letters"), (0xAC00, "hangul"), (0xD7B0, "letters"), (0xF900, "han"), (0xFB00, "letters"),
    (0xFB50, "arabic"), (0xFE00, "letters"), (0xFE70, "arabic"), (0xFF00, "kana"), (0xFFF0, "letters"),
    (0x20000, "han"), (0x33480, "letters"),
)  # fmt: skip
_FIRST = np.array([first for first, _ in _SCRIPTS])
_KIND = np.array([KINDS.index(kind) for _, kind in _SCRIPTS])


def kinds(texts: list[str]) -> Ints:
    """The kind of each text, by its first letter or digit; signs where there is none."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    starts = np.cumsum(lengths) - lengths
    category = _categories()[np.minimum(codes, 0x323B0)]
    # Where no letter stands, the first character's category says signs.
    rank = np.where(category > 0, np.arange(len(codes)), len(codes))
    first = np.minimum.reduceat(rank, starts)
    last = starts + lengths
    at = np.where(first < last, first, starts)
    script = _KIND[np.searchsorted(_FIRST, codes[at], side="right") - 1]
    found: Ints = np.choose(category[at], [np.full(len(texts), SIGNS), script, np.full(len(texts), DIGITS)])
    return found


@cache
def _categories() -> NDArray[np.uint8]:
    """1 for every letter and combining mark, 2 for every digit, 0 for the others."""
    table = np.zeros(0x323B1, np.uint8)
    for code in range(0x323B0):
        major = unicodedata.category(chr(code))[0]
        table[code] = 1 if major in "LM" else 2 if major == "N" else 0
    return table
