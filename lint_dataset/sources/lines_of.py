"""The lines of a text file as they stand in it, with their line ends: for copying them."""

from __future__ import annotations

from collections.abc import Iterator

from lint_dataset.sources import example
from lint_dataset.sources.formats import lines
from lint_dataset.sources.registry import format_of, place_of
from lint_dataset.sources.stream import Input, decompress


def is_text(path: str) -> bool:
    """Whether a path names a local file that is read as lines, by its ending."""
    known, _ = format_of(path)
    return place_of(path) is None and (known is None or known.read is lines.read)


def lines_of(path: str) -> Iterator[tuple[int, bytes, bool]]:
    """The number of each line, its bytes, and whether they are its first: a very long line comes in pieces.

    A file that cannot be read has none; a damaged one has those before the damage.
    """
    try:
        with open(path, "rb", buffering=example.HEAD) as file:
            _, compression = format_of(path)
            stream = decompress(Input(path, file), compression).file if compression is not None else file
            number, first = 0, True
            while piece := stream.readline(example.LONGEST_LINE):
                number += first
                yield number, piece, first
                first = piece.endswith(b"\n")
    except OSError:
        return
