"""Files, folders and globs → numbered raw examples, byte for byte, in a stream.

What belongs to a file as a whole (it is missing, compressed, a pointer, one big array) is said once, in a row without
bytes, on the way.
"""

from __future__ import annotations

import glob
import json
import os
import stat
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from lint_dataset.faults import Fault

SUFFIXES = (".jsonl", ".ndjson")
#: A longer line is reported and skipped: no example is that long, and reading on must not fill the memory.
LONGEST_LINE = 256 * 2**20
#: How much of a file is looked at, at most, to tell what kind of file it is.
_HEAD = 2**20

_BOM = b"\xef\xbb\xbf"
_LFS = b"version https://git-lfs.github.com/spec/"
_BLANK = b" \t\r\n"
#: First bytes of files that are no UTF-8 text. The longer marks of UTF-32 come before those of UTF-16.
_FOREIGN = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Arrow"),
)


class RawExample(NamedTuple):
    """One line of a file: its number (from 1), its bytes without the line end, and what is wrong with it so far.

    ``raw`` is None where there is no example: a blank line, a line too long to read, or (``line`` is then where it was
    noticed) something about the file as a whole.
    """

    path: str
    line: int
    raw: bytes | None
    faults: tuple[Fault, ...] = ()


def expand(paths: Iterable[str]) -> list[str]:
    """The files that ``paths`` (files, folders, globs with ``**``) stand for: sorted, each once.

    Folders give their ``.jsonl`` and ``.ndjson`` files, at any depth, except in hidden folders. A path that matches
    nothing stays, so that reading it says so.
    """
    found: set[str] = set()
    for path in paths:
        if os.path.isfile(path):
            matches = [path]
        elif os.path.isdir(path):
            matches = _in_folder(path)
        else:
            matches = []
            for match in glob.iglob(path, recursive=True):
                matches += _in_folder(match) if os.path.isdir(match) else [match]
        found.update(os.path.normpath(match) for match in matches or [path])
    return sorted(found)


def read(path: str) -> Iterator[RawExample]:
    """The lines of one file, in a stream: at most one line is held in memory. Never raises for what a file holds."""
    line = 1
    try:
        # Opening a pipe or a device can wait for ever, and none of them can be linted twice alike.
        if not stat.S_ISREG(os.stat(path).st_mode):
            problem = "folder" if os.path.isdir(path) else "not_a_file"
            yield _about_file(path, Fault("J001", {"problem": problem}))
            return
        with open(path, "rb", buffering=_HEAD) as file:
            for row in _rows(path, file):
                line = row.line
                yield row
    except FileNotFoundError:
        wildcard = glob.has_magic(path)
        yield _about_file(path, Fault("J001", {"problem": "no_match" if wildcard else "not_found"}), line)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path.
        reason = getattr(error, "strerror", None) or "not a valid path"
        yield _about_file(path, Fault("J001", {"problem": "unreadable", "reason": reason}), line)


def _in_folder(folder: str) -> list[str]:
    files = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [os.path.join(place, name) for name in names if name.lower().endswith(SUFFIXES)]
    return files


def _about_file(path: str, fault: Fault, line: int = 1) -> RawExample:
    return RawExample(path, line, None, (fault,))


def _rows(path: str, file: BinaryIO) -> Iterator[RawExample]:
    before = os.fstat(file.fileno())
    head = file.read(_HEAD)
    file.seek(0)
    whole = _whole_file_fault(head, complete=len(head) == before.st_size)
    if whole is not None:
        yield _about_file(path, whole)
        return
    size, number, crlf = 0, 0, False
    if head.startswith(_BOM):
        yield _about_file(path, Fault("J004", {}))
        size = len(file.read(len(_BOM)))
    while line := file.readline(LONGEST_LINE):
        number += 1
        size += len(line)
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            rest = _skip_line(file)
            size += rest
            yield RawExample(path, number, None, (Fault("J015", {"bytes": len(line) + rest, "limit": LONGEST_LINE}),))
            continue
        if line.endswith(b"\r\n") and not crlf:
            crlf = True
            yield _about_file(path, Fault("J006", {}), number)
        if not line.strip(_BLANK):
            yield RawExample(path, number, None, (Fault("J008", {"last": size == before.st_size}),))
            continue
        yield RawExample(path, number, line.removesuffix(b"\n").removesuffix(b"\r"))
    after = os.fstat(file.fileno())
    if size != before.st_size or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        changed = {"size_before": before.st_size, "size_after": after.st_size}
        yield _about_file(path, Fault("J016", changed), max(number, 1))


def _skip_line(file: BinaryIO) -> int:
    """Read to the end of a line piece by piece; how many bytes that was."""
    skipped = 0
    while piece := file.readline(_HEAD):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _whole_file_fault(head: bytes, *, complete: bool) -> Fault | None:
    """What makes a file unreadable line by line, from its first bytes; None for a file of lines."""
    if not head.removeprefix(_BOM).strip(_BLANK):
        return Fault("J002", {"bytes": len(head)}) if complete else None
    if head.startswith(_LFS):
        sizes = [line[5:] for line in head.split(b"\n") if line.startswith(b"size ")]
        return Fault("J003", {"bytes": int(sizes[0]) if sizes and sizes[0].isdigit() else None})
    for first, name in _FOREIGN:
        if head.startswith(first):
            return Fault("J005", {"looks_like": name})
    if len(head) >= 2 and (head[0] == 0) != (head[1] == 0):
        return Fault("J005", {"looks_like": "UTF-16"})
    return _not_lines(head.removeprefix(_BOM), complete=complete)


def _not_lines(head: bytes, *, complete: bool) -> Fault | None:
    """Whether the file is one JSON array, or objects that go over several lines.

    It is, when the first line alone is no JSON but goes on legally in the second. A line that is merely broken does
    not, since what follows it is the next object.
    """
    first, _, rest = head.lstrip(_BLANK).partition(b"\n")
    opening = first.strip(_BLANK)
    try:
        value = json.loads(opening)
    except (ValueError, RecursionError):
        if not rest.strip(_BLANK):
            return None
    else:
        alone = complete and isinstance(value, list) and not rest.strip(_BLANK)
        return Fault("J007", {"holds": "array"}) if alone and value and isinstance(value[0], dict) else None
    holds = "array" if opening.startswith(b"[") else "objects"
    if opening in (b"[", b"{", b"[{") or _goes_on(head.lstrip(_BLANK).decode("utf-8", "replace")):
        return Fault("J007", {"holds": holds})
    return None


def _goes_on(text: str) -> bool:
    """Whether the JSON value at the start of ``text`` (whose end may be missing) runs on over several lines."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        end = error.pos
        return text.count("\n", 0, end) > 1
    except RecursionError:
        return False
    return "\n" in text[:end]
