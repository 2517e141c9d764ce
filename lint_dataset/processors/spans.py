"""From characters to tokens, by the offsets that a tokenizer gives."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any


class Ruler:
    """The token boundaries of one encoded text."""

    def __init__(self, encoding: Any) -> None:
        """Read the offsets off an encoding of the tokenizers library."""
        offsets = encoding.offsets
        self.tokens = len(offsets)
        # Tokens that the tokenizer adds stand nowhere, (0, 0): those in front need nothing, those behind take the end.
        highest = 0
        self._starts, self._ends = [], []
        for start, end in offsets:
            highest = max(highest, end)
            self._starts.append(start if end > start else highest)
            self._ends.append(highest)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The tokens that hold any of the characters ``[start, end)``, half open; an empty span for no characters."""
        first = bisect_right(self._ends, start)
        return first, max(first, bisect_left(self._starts, end)) if end > start else first


def common_prefix(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
