"""Standard input: JSON Lines from a pipe, which gives them only once: what was read is kept for a second reading."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from typing import IO, BinaryIO, cast

from lint_dataset.faults import Fault
from lint_dataset.sources.example import RawExample, about_file
from lint_dataset.sources.formats.lines import lines
from lint_dataset.sources.registry import place
from lint_dataset.sources.stream import Input

_SHOWN = "<stdin>"
#: More than this is kept on the disk, in a file without a name.
_IN_MEMORY = 2**24


@place(lambda path: path == "-")
def _read(path: str, fetch: bool) -> Iterator[RawExample]:
    if sys.stdin is None or sys.stdin.closed:
        yield about_file(_SHOWN, Fault("J001", {"problem": "unreadable", "reason": "standard input is closed"}))
        return
    yield from lines(Input(_SHOWN, cast(BinaryIO, _Reading(_kept(sys.stdin.buffer)))))


class _Kept:
    """A stream and what was read of it so far."""

    last: _Kept | None = None

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.read: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (as long as the process)


def _kept(stream: BinaryIO) -> _Kept:
    if _Kept.last is None or _Kept.last.stream is not stream:
        _Kept.last = _Kept(stream)
    return _Kept.last


class _Reading:
    """One reading of a stream from its beginning."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept
        self._at = 0

    def read(self, size: int) -> bytes:
        self._kept.read.seek(self._at)
        piece = self._kept.read.read(size)
        if not piece:
            piece = self._kept.stream.read(size)
            self._kept.read.write(piece)
        self._at += len(piece)
        return piece
