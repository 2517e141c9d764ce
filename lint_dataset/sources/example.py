"""What a source gives: one numbered row, its bytes, and what is wrong with it so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lint_dataset.faults import Fault

#: A longer line is reported and skipped: no example is that long, and reading on must not fill the memory.
LONGEST_LINE = 256 * 2**20
#: How much of a file is looked at, at most, to tell what kind of file it is.
HEAD = 2**20
#: The key of the object that stands, in the text of a row, for bytes beside the text.
_DIGEST = "sha256"
_NO_BLOBS: Mapping[str, bytes] = {}


class RawExample(NamedTuple):
    """One row: its number (from 1), its bytes without the line end, and what is wrong with it so far.

    ``block`` is the block of a text that the datasets library reads it in (None in a table).

    ``line`` is a line of a text file and a row of a table. ``raw`` is None where there is no example: a blank line, a
    line too long to read, or (``line`` is then where it was noticed) something about the file as a whole.

    ``raw`` is JSON text. Bytes that a row of a table holds (a clip, an image) stay out of it: they are in ``blobs`` by
    their SHA-256, and the text has that digest in their place, so that it still names the whole content of the row.
    """

    path: str
    line: int
    raw: bytes | None
    faults: tuple[Fault, ...] = ()
    blobs: Mapping[str, bytes] = _NO_BLOBS
    block: int | None = None


def about_file(path: str, fault: Fault, line: int = 1) -> RawExample:
    """Something about a file as a whole, noticed at a line."""
    return RawExample(path, line, None, (fault,))


def reference(digest: str) -> dict[str, str]:
    """What stands in the text of a row for the bytes with this SHA-256 (hexadecimal)."""
    return {_DIGEST: digest}


def restore(value: Any, blobs: Mapping[str, bytes]) -> Any:
    """The parsed JSON of a row with its bytes back in their places."""
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(digest := value.get(_DIGEST), str) and digest in blobs:
            return blobs[digest]
        return {key: restore(item, blobs) for key, item in value.items()}
    return [restore(item, blobs) for item in value] if isinstance(value, list) else value
