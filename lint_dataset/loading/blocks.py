"""The blocks in which the datasets library reads a JSON text: the types of the first one decide those of the others."""

from __future__ import annotations

#: It reads so many bytes, and then on to the end of the line (``chunksize`` of its JSON loader).
BLOCK = 10 << 20


class Blocks:
    """Tells for one line after another, from the first on, which block it is in."""

    def __init__(self) -> None:
        """Begin with the first block."""
        self._number = 0
        self._left = BLOCK

    def next(self, size: int) -> int:
        """The block of the next line, which has so many bytes with its line end."""
        if self._left < 0:
            self._number += 1
            self._left = BLOCK
        self._left -= size
        return self._number
