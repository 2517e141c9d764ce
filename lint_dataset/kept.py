"""The lines that pass, byte for byte, in one file, and the others in another. The files themselves are left alone.

Both together are the input: a line goes to one or the other, with its line end. What a finding says of a file as a
whole (its encoding, types that change on the way) rejects no line.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from lint_dataset.report.place import writing
from lint_dataset.result import Result
from lint_dataset.rules import ABOUT_FILES
from lint_dataset.sources import shown
from lint_dataset.sources.lines_of import is_text, lines_of
from lint_dataset.sources.registry import format_of
from lint_dataset.usage import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

#: What is written beside the rejected lines: a JSON object for each of them, in their order.
CODES = ".codes.jsonl"
VERSION = 1
#: Files of which no line was judged, for what they are.
_UNREAD = frozenset(("J003", "J005", "J007", "J025"))

_Codes = dict[int, set[str]]


class Split(NamedTuple):
    """How many lines went where, and how many of the kept ones have no token count."""

    kept: int
    rejected: int
    uncounted: int


def check(files: Sequence[str], outputs: Sequence[str] = ()) -> None:
    """Raise ``UsageError`` for a source that has no lines to copy, and an output whose name promises no lines."""
    for path in outputs:
        compression = format_of(path)[1]
        if not is_text(path) or compression not in (None, "gzip"):
            raise UsageError(f"{path} would hold lines, plain or as .gz, and its name says otherwise: end it in .jsonl")
    for path in files:
        if not is_text(path):
            raise UsageError(
                f"{shown(path)} has no lines that could be copied (JSON Lines in files have, plain or compressed): "
                "write --measurements instead, whose column codes says which rows to leave out"
            )


def write(result: Result, files: Sequence[str], kept: str | None, rejected: str | None) -> Split:
    """Copy the lines of the files to ``kept``, or to ``rejected`` where they have a finding that is an error.

    Beside the rejected lines, in a file with ``CODES`` behind its name, is written of each: ``path``, ``line`` and
    ``codes``. Lines of several files follow each other. Names that end in ``.gz`` are compressed. Raises
    ``UsageError`` where a file cannot be written, is one of ``files``, or changed since it was judged.
    """
    failing, unread = _failing(result)
    rows = _Rows(result)
    counts = {"kept": 0, "rejected": 0, "uncounted": 0}
    with ExitStack() as stack:
        passing = _Lines(stack.enter_context(_writing(kept, files)))
        others = _Lines(stack.enter_context(_writing(rejected, files)))
        beside = stack.enter_context(_writing(f"{rejected}{CODES}" if rejected else None, files))
        for path in files:
            name = shown(path)
            for line, piece, first in lines_of(path):
                codes = sorted(failing.get(name, {}).get(line, set()) | unread.get(name, set()))
                if first:
                    counted = rows.pass_over(name, line, _row(piece, line), judged=bool(codes))
                    counts["rejected" if codes else "kept"] += 1
                    counts["uncounted"] += not codes and not counted
                (others if codes else passing).add(line, piece, first)
                if codes and first and beside is not None:
                    about = {"version": VERSION, "path": name, "line": line, "codes": codes}
                    beside.write((json.dumps(about) + "\n").encode())
        rows.end()
    return Split(**counts)


def _row(line: bytes, number: int) -> bytes:
    """The bytes of the row in a line, as they are hashed."""
    return (line.removeprefix(BOM_UTF8) if number == 1 else line).removesuffix(b"\n").removesuffix(b"\r")


def _failing(result: Result) -> tuple[Mapping[str, _Codes], Mapping[str, set[str]]]:
    """The codes of the errors of each line, and those of files that were not read at all, by path."""
    lines: dict[str, _Codes] = {}
    unread: dict[str, set[str]] = {}

    def add(code: str, severity: str, path: str, line: int) -> None:
        if code in _UNREAD and code in ABOUT_FILES:
            unread.setdefault(path, set()).add(code)
        elif severity == "error" and code not in ABOUT_FILES:
            lines.setdefault(path, {}).setdefault(line, set()).add(code)

    for diagnostic in result.diagnostics:
        add(diagnostic.code, diagnostic.severity, diagnostic.path, diagnostic.line)
    for (code, severity), places in result.unlisted.items():
        for path, line in places:
            add(code, severity, path, line)
    return lines, unread


class _Rows:
    """The judged rows, one after another beside the lines that they were read from."""

    def __init__(self, result: Result) -> None:
        self._rows = self._each(result.rows)
        self._next = next(self._rows, None)

    @staticmethod
    def _each(table: pa.Table) -> Iterator[tuple[str, int, str, bool]]:
        for batch in table.select(["path", "line", "hash", "tokens"]).to_batches(max_chunksize=10_000):
            path, line, digest, tokens = batch.columns
            counted = tokens.is_valid().to_pylist()
            yield from zip(path.to_pylist(), line.to_pylist(), digest.to_pylist(), counted, strict=True)

    def pass_over(self, path: str, line: int, row: bytes, *, judged: bool) -> bool:
        """Whether the row of a line has a token count. ``judged`` lines may have none, and so may blank ones.

        Raises ``UsageError`` where the line is not the one that was judged.
        """
        at = self._next
        if at is None or at[:2] != (path, line):
            if not judged and row.strip():
                raise _changed(path)
            return True
        if at[2] != hashlib.sha256(row).hexdigest():
            raise _changed(path)
        self._next = next(self._rows, None)
        return at[3]

    def end(self) -> None:
        """Raise ``UsageError`` where rows were judged whose lines are not there any more."""
        if self._next is not None:
            raise _changed(self._next[0])


def _changed(path: str) -> UsageError:
    return UsageError(f"{path} changed while it was read: nothing was written; run again")


class _Lines:
    """Lines one after another. The last line of a file may lack its end, and then gets one before the next.

    A byte-order mark stays at the beginning of what is written alone: between lines it is no mark, and breaks one.
    """

    def __init__(self, file: BinaryIO | None) -> None:
        self._file = file
        self._begun = False
        self._ended = True

    def add(self, line: int, piece: bytes, first: bool) -> None:
        if self._file is None:
            return
        if first and not self._ended:
            self._file.write(b"\n")
        self._file.write(piece.removeprefix(BOM_UTF8) if self._begun and first and line == 1 else piece)
        self._begun = True
        self._ended = piece.endswith(b"\n")


@contextmanager
def _writing(path: str | None, files: Sequence[str]) -> Iterator[BinaryIO | None]:
    if path is None:
        yield None
        return
    with writing(path, files) as file:
        if format_of(path)[1] == "gzip":
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield file
