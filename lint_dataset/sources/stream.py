"""A stream of bytes from its beginning: decompressed, and with its first bytes looked at before they are read."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from lint_dataset.sources import example

#: Endings of compressed files, and what they are compressed with.
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
#: Little at a time: what a damaged stream still gives before it ends is lost with the piece that fails.
_PIECE = 2**14


@dataclass(frozen=True)
class Input:
    """An open file: its name in reports, its bytes at their beginning, and where it is if it is a plain local file.

    ``damage`` says, once the bytes have ended, why they ended before their time; None when they did not.
    """

    path: str
    file: BinaryIO
    place: str | None = None
    damage: Callable[[], str | None] = lambda: None


class Peeked:
    """A stream whose ``head`` (at most ``example.HEAD`` bytes) was looked at; ``file`` still begins with it.

    ``complete`` says that the head is all there is. The stream needs no seeking, so it may be a pipe.
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Read the head."""
        pieces = []
        wanted = example.HEAD
        while wanted and (piece := stream.read(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
        self.head = b"".join(pieces)
        self.complete = wanted > 0
        self.file = io.BufferedReader(_Rejoined(self.head, stream), example.HEAD)


class _Rejoined(io.RawIOBase):
    """The head again, then the rest."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class _Decompressed(io.RawIOBase):
    """What a compressed stream holds, as far as it can be had. Where it is damaged it ends, and says so."""

    def __init__(self, pull: Callable[[int], bytes]) -> None:
        self._pull = pull
        self.problem: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self.problem is not None:
            return 0
        try:
            piece = self._pull(min(len(buffer), _PIECE))
        except EOFError:
            self.problem = "cut"
            return 0
        except (OSError, zlib.error) as error:
            self.problem = "cut" if "Truncated" in str(error) else "corrupt"
            return 0
        buffer[: len(piece)] = piece
        return len(piece)


def decompress(source: Input, compression: str) -> Input:
    """The same file decompressed on the way, a piece at a time: memory stays flat however much it unpacks to.

    Zstandard is read by pyarrow, which is needed anyway. Raises ``OSError`` where pyarrow was built without it.
    """
    if compression == "gzip":
        # Not read(): it would throw away what it has when the stream turns out to be damaged.
        unpacked = _Decompressed(gzip.GzipFile(fileobj=source.file, mode="rb").read1)
    else:
        unpacked = _Decompressed(_zstd(source.file))
    return Input(source.path, io.BufferedReader(unpacked, _PIECE), None, lambda: unpacked.problem)


def _zstd(file: BinaryIO) -> Callable[[int], bytes]:
    import pyarrow as pa

    if not pa.Codec.is_available("zstd"):
        raise OSError(None, "this pyarrow was built without zstd: pip install pyarrow")
    stream = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
    return lambda size: bytes(stream.read(size))
