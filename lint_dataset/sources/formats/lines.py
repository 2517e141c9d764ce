"""JSON Lines: one object a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from lint_dataset.faults import Fault
from lint_dataset.loading.blocks import Blocks
from lint_dataset.sources import example
from lint_dataset.sources.example import RawExample, about_file
from lint_dataset.sources.head import BLANK, BOM, not_lines, not_text
from lint_dataset.sources.registry import file_format
from lint_dataset.sources.stream import Input, Peeked


@file_format(".jsonl", ".ndjson", text=True)
def read(source: Input) -> Iterator[RawExample]:
    """The rows of JSON Lines."""
    yield from lines(source)


def lines(source: Input) -> Iterator[RawExample]:
    """The lines of a file, in a stream: at most one line is held in memory."""
    peeked = Peeked(source.file)
    if source.damage() is None or peeked.head:
        whole = not_text(peeked.head, complete=peeked.complete)
        if whole is None:
            whole = not_lines(peeked.head.removeprefix(BOM), complete=peeked.complete)
        if whole is not None:
            yield about_file(source.path, whole)
            return
    yield from numbered(source, peeked)


def numbered(source: Input, peeked: Peeked) -> Iterator[RawExample]:
    """The lines of a text that is known to be one."""
    path, file = source.path, peeked.file
    number, crlf, blocks = 0, False, Blocks()
    if peeked.head.startswith(BOM):
        yield about_file(path, Fault("J004", {}))
        blocks.next(len(file.read(len(BOM))))
    while line := file.readline(example.LONGEST_LINE):
        number += 1
        ended = line.endswith(b"\n")
        if not ended and source.damage() is not None:
            number -= 1  # The rest of this line is lost.
            break
        if len(line) == example.LONGEST_LINE and not ended:
            size = len(line) + _skip_line(file)
            blocks.next(size)
            yield RawExample(path, number, None, (Fault("J015", {"bytes": size, "limit": example.LONGEST_LINE}),))
            continue
        if line.endswith(b"\r\n") and not crlf:
            crlf = True
            yield about_file(path, Fault("J006", {}), number)
        block = blocks.next(len(line))
        if not line.strip(BLANK):
            yield RawExample(path, number, None, (Fault("J008", {"last": not file.peek(1)}),), block=block)
            continue
        yield RawExample(path, number, line.removesuffix(b"\n").removesuffix(b"\r"), block=block)
    damage = source.damage()
    if damage is not None:
        yield about_file(path, Fault("J018", {"problem": damage}), number + 1)


def _skip_line(file: BinaryIO) -> int:
    """Read to the end of a line piece by piece; how many bytes that was."""
    skipped = 0
    while piece := file.readline(example.HEAD):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped
