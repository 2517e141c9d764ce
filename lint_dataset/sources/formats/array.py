"""JSON files: one array of rows, or one row over several lines.

Where the file holds one object a line in spite of its ending, it is read as lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from lint_dataset.faults import Fault
from lint_dataset.sources import example
from lint_dataset.sources.example import RawExample, about_file
from lint_dataset.sources.formats.lines import numbered
from lint_dataset.sources.head import BLANK, BOM, is_object, not_lines, not_text, rows_under
from lint_dataset.sources.registry import file_format
from lint_dataset.sources.stream import Input, Peeked

_ARRAY_OF_OBJECTS = re.compile(rb"\[\s*\{")
#: A string that ends soon, or one mark: commas matter only between elements. The repeats are bounded because each of
#: them takes memory.
_BETWEEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*){0,100}"|["\[\]{},]', re.DOTALL)
_INSIDE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*){0,100}"|["\[\]{}]', re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*){0,100}', re.DOTALL)


def _wanted(head: bytes) -> bool:
    """Whether a JSON file in a folder holds rows: an array of objects, or several lines of which each is an object."""
    text = head.removeprefix(BOM).lstrip(BLANK)
    if text.startswith(b"["):
        return _ARRAY_OF_OBJECTS.match(text) is not None
    first, _, rest = text.partition(b"\n")
    return first.rstrip(BLANK).endswith(b"}") and rest.lstrip(BLANK).startswith(b"{")


@file_format(".json", text=True, wanted=_wanted)
def _read(source: Input) -> Iterator[RawExample]:
    peeked = Peeked(source.file)
    head = peeked.head.removeprefix(BOM)
    if source.damage() is None or head:
        whole = not_text(peeked.head, complete=peeked.complete)
        if whole is None and not head.lstrip(BLANK).startswith(b"["):
            key = rows_under(head)
            wrapped = Fault("J007", {"holds": "wrapped", "key": key}) if key is not None else None
            if wrapped is None and peeked.complete and is_object(head):
                above = head[: len(head) - len(head.lstrip(BLANK))].count(b"\n")
                yield RawExample(source.path, above + 1, head.strip(BLANK))
                return
            whole = wrapped or not_lines(head, complete=peeked.complete)
        if whole is not None:
            yield about_file(source.path, whole)
            return
    if not head.lstrip(BLANK).startswith(b"["):
        yield from numbered(source, peeked)
        return
    if len(head) < len(peeked.head):
        yield about_file(source.path, Fault("J004", {}))
        peeked.file.read(len(BOM))
    yield from _elements(source, peeked.file)


def _elements(source: Input, file: BinaryIO) -> Iterator[RawExample]:
    """The elements of the array that a file is. A broken one is given as it is, and its JSON will be judged."""
    path, line, damage, first = source.path, 1, None, True
    for cut in _cuts(file):
        line, damage = cut.line, source.damage()
        if cut.mark == "end":
            # What is left of a row that was cut off is lost; where the array was only never closed it can be judged.
            damage = damage or ("no_end" if cut.between else None)
            if source.damage() is not None or not cut.size:
                break
        if cut.mark == "more":
            damage = damage or "goes_on"
            break
        if cut.size > example.LONGEST_LINE:
            limits = {"bytes": cut.size, "limit": example.LONGEST_LINE}
            yield RawExample(path, line, None, (Fault("J015", limits),))
        elif cut.size:
            # The datasets library reads an array as a whole.
            yield RawExample(path, line, cut.text, block=0)
        elif cut.mark == "," or not first:
            problem = "trailing_comma" if cut.mark == "]" else "no_value"
            syntax = {"column": cut.column, "problem": problem, "parser": "no value before the comma"}
            yield RawExample(path, line, None, (Fault("J010", syntax),))
        else:
            yield about_file(path, Fault("J002", {"rows": 0}))
        first = False
    if damage is not None:
        yield about_file(path, Fault("J018", {"problem": damage}), line)


class _Cut(NamedTuple):
    """What stands between two marks of the array, without the blanks around it.

    ``mark`` is what ends it: ``","``, ``"]"``, ``"end"`` of the file before the array ends, or ``"more"``: it stands
    behind the array. ``line`` is the line of its first byte, ``column`` (from 1, in bytes) that of the mark in its own
    line. ``text`` is empty where ``size`` is longer than a line may be. ``between``: it may be a whole element.
    """

    line: int
    column: int
    mark: str
    size: int
    text: bytes
    between: bool = True


class _Piece:
    """The text behind a mark as far as it is read, from its first byte that is not blank."""

    def __init__(self, line: int) -> None:
        self.first = self.line = line
        self.size = 0
        self._text = bytearray()

    def add(self, text: bytes) -> None:
        if not self.size:
            rest = text.lstrip(BLANK)
            self.line += text.count(b"\n", 0, len(text) - len(rest))
            self.first, text = self.line, rest
        self.line += text.count(b"\n")
        self.size += len(text)
        if self.size <= example.LONGEST_LINE:
            self._text += text
        else:
            self._text.clear()

    def cut(self, mark: str, column: int = 0, *, between: bool = True) -> _Cut:
        return _Cut(self.first, column, mark, self.size, bytes(self._text.rstrip(BLANK)), between)


def _cuts(file: BinaryIO) -> Iterator[_Cut]:
    """Cut the text of an array at the commas that are inside nothing else, without reading it as JSON.

    So a row that is no JSON spoils no other, as long as its brackets and quotes are in pairs.
    """
    depth, in_string, escaped, before = 0, False, False, 0
    piece = _Piece(1)
    while chunk := file.read(example.HEAD):
        start, position, escaped = 0, int(escaped), False
        while position < len(chunk):
            if in_string:
                stop = _IN_STRING.match(chunk, position)
                position = stop.end() if stop else position
                if chunk[position : position + 1] == b'"':
                    in_string = False
                    position += 1
                elif position + 1 == len(chunk):  # A backslash; what it escapes is in the next chunk.
                    escaped = True
                    position += 1
                continue
            found = (_INSIDE if depth > 1 else _BETWEEN).search(chunk, position)
            if found is None:
                break
            position = found.end()
            mark = chunk[found.start() : position] if position - found.start() == 1 else b""
            if mark == b'"':
                in_string = True
            elif mark in (b"[", b"{"):
                depth += 1
                if depth == 1:
                    piece, start = _Piece(piece.line), position
                    piece.line += chunk.count(b"\n", 0, position)
            elif mark in (b"]", b"}") and depth > 1:
                depth -= 1
            elif mark:
                piece.add(chunk[start : position - 1])
                last = chunk.rfind(b"\n", 0, position)
                column = position - 1 - last if last >= 0 else before + position
                yield piece.cut("," if mark == b"," else "]", column)
                piece, start = _Piece(piece.line), position
                if mark != b",":
                    yield from _behind(piece, chunk[position:], file)
                    return
        piece.add(chunk[start:])
        last = chunk.rfind(b"\n")
        before = len(chunk) - 1 - last if last >= 0 else before + len(chunk)
    yield piece.cut("end", between=depth == 1 and not in_string)


def _behind(piece: _Piece, chunk: bytes, file: BinaryIO) -> Iterator[_Cut]:
    while chunk and not piece.size:
        piece.add(chunk)
        chunk = file.read(example.HEAD)
    if piece.size:
        yield piece.cut("more")
