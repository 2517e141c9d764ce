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
        self._starts = [start for start, _ in offsets]
        self._ends = [end for _, end in offsets]
        # Tokens that the tokenizer adds stand nowhere, at (0, 0): those in front may, those behind take the text's end.
        highest = max(self._ends, default=0)
        for i in range(self.tokens - 1, -1, -1):
            if self._ends[i] > self._starts[i]:
                break
            self._starts[i] = self._ends[i] = highest

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
