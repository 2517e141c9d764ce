"""What a file is, from its first bytes."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

from lint_dataset.conversations.faults import key_names, name_of
from lint_dataset.faults import Fault

BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r\n"
_LFS = b"version https://git-lfs.github.com/spec/"
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
#: Keys of the objects in a list that is part of a row: messages, tools, media.
_OF_A_ROW = {"role", "from", "type", "function", "bytes", "path"}
#: How what this program itself writes begins: its reports, measurements, baselines and codes of rejected lines.
_OWN = re.compile(
    rb"""
    (?P<report>\{\s*"version":\ \d+,\s*(?:"tool":\ \{\s*"name":\ "lint-dataset"|"code":\ "[A-Z]\d{3}",\ "severity"))
    |(?P<ladder>\{"version":\ \d+,\ "tokens":\ \d+,\ "peak_bytes")
    |(?P<baseline>\{\s*"version":\ \d+,\s*"kind":\ "lint-dataset\ )
    |(?P<codes>\{"version":\ \d+,\ "path":\ "(?:[^"\\]|\\.)*",\ "line":\ \d+,\ "codes":\ \[)
    |(?P<measurements>\{"path":\ "(?:[^"\\]|\\.)*",\ "line":\ \d+,\ "block":\ (?:\d+|null),\ "hash":\ "[0-9a-f]{64}")
    """,
    re.VERBOSE,
)
#: Enough of a text to see that it is a table, what parts its columns, and what names they have.
_GLANCE = 2**16
_DELIMITERS = {",": "csv", "\t": "tsv", ";": "csv ;"}
_COLUMN = re.compile(r"\w[\w .\-/]{0,59}")
_SPACE = re.compile(r"[ \t\r\n]*")
#: Numbers are no matter here: Python refuses to make one of more than 4,300 digits.
_Decoder = json.JSONDecoder(parse_int=str)


def not_data(head: bytes) -> Fault | None:
    """What makes any file hold nothing, whatever its format: it is empty, or a pointer of Git LFS."""
    if not head:
        return Fault("J002", {"bytes": 0})
    if head.startswith(_LFS):
        sizes = [line[5:] for line in head.split(b"\n") if line.startswith(b"size ")]
        return Fault("J003", {"bytes": int(sizes[0]) if sizes and sizes[0].isdigit() else None})
    return None


def not_text(head: bytes, *, complete: bool) -> Fault | None:
    """What makes a file no text with rows in it; ``complete`` says that the head is all of it."""
    if not head.removeprefix(BOM).strip(BLANK):
        return Fault("J002", {"bytes": len(head)}) if complete else None
    fault = not_data(head)
    if fault is not None:
        return fault
    if (own := _OWN.match(head)) is not None:
        return Fault("J025", {"holds": next(name for name, text in own.groupdict().items() if text)})
    for first, name in _FOREIGN:
        if head.startswith(first):
            return Fault("J005", {"looks_like": name})
    if len(head) >= 2 and (head[0] == 0) != (head[1] == 0):
        return Fault("J005", {"looks_like": "UTF-16"})
    return None


def not_lines(head: bytes, *, complete: bool) -> Fault | None:
    """Whether a text (without its byte order mark) is one JSON array, or objects that go over several lines.

    It is, when the first line alone is no JSON but goes on legally in the second. A line that is merely broken does
    not, since what follows it is the next object.
    """
    first, _, rest = head.lstrip(BLANK).partition(b"\n")
    opening = first.strip(BLANK)
    try:
        value = _loads(opening)
    except (ValueError, RecursionError):
        if not rest.strip(BLANK):
            return None
        if opening[:1] not in (b"{", b"[") and (table := _text_table(head, complete)) is not None:
            return Fault("J007", table)
    else:
        alone = complete and isinstance(value, list) and not rest.strip(BLANK)
        return Fault("J007", {"holds": "array"}) if alone and value and isinstance(value[0], dict) else None
    holds = "array" if opening.startswith(b"[") else "objects"
    if opening in (b"[", b"{", b"[{") or _goes_on(head.lstrip(BLANK).decode("utf-8", "replace")):
        return Fault("J007", {"holds": holds})
    return None


def _text_table(head: bytes, complete: bool) -> dict[str, Any] | None:
    """What makes a text a table with a line of column names: its delimiter and names; None where it is none."""
    lines = head[:_GLANCE].decode("utf-8", "replace").splitlines(keepends=True)
    if len(head) > _GLANCE or not complete:
        del lines[-1:]
    for delimiter, holds in _DELIMITERS.items():
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        names = rows[0] if len(rows) > 1 else []
        whole = sum(len(row) == len(names) for row in rows[1:])
        if len(names) > 1 and all(map(_COLUMN.fullmatch, names)) and (2 * whole >= len(rows) - 1):
            return {"holds": holds, "columns": key_names(names)}
    return None


def rows_under(head: bytes) -> str | None:
    """The key under which one object, that is the whole file, holds its rows as a list; None where it does not."""
    first, _, rest = head.strip(BLANK).partition(b"\n")
    if rest.strip(BLANK) and _is_json(first):
        return None  # One object a line.
    text = head.decode("utf-8", "replace")
    try:
        position = _after(text, _after(text, 0), "{")
        while True:
            key, position = _Decoder.raw_decode(text, position)
            position = _after(text, _after(text, position), ":")
            if text[position] == "[" and _is_row(text, _after(text, position + 1)):
                return name_of(key)
            _, position = _Decoder.raw_decode(text, position)
            position = _after(text, _after(text, position), ",")
    except (ValueError, IndexError, RecursionError):
        return None


def is_object(head: bytes) -> bool:
    """Whether a file, of which this is all, is one object: a row written over several lines."""
    try:
        return isinstance(_loads(head), dict)
    except (ValueError, RecursionError):
        return False


def _is_row(text: str, position: int) -> bool:
    """Whether the first item of a list is an object such as rows are; the head may end inside of it."""
    if text[position] != "{":
        return False
    try:
        item: Any = _Decoder.raw_decode(text, position)[0]
    except (ValueError, RecursionError):
        item = dict.fromkeys(re.findall(r'[{,]\s*"(\w+)"\s*:', text[position : position + 1000]))
    return bool(item) and not _OF_A_ROW.intersection(item)


def _after(text: str, position: int, mark: str = "") -> int:
    """The place after a mark and the space behind it. Raises ``ValueError`` where the mark is not there."""
    if not text.startswith(mark, position):
        raise ValueError(mark)
    space = _SPACE.match(text, position + len(mark))
    return space.end() if space else position


def _loads(text: bytes) -> Any:
    return _Decoder.decode(text.decode("utf-8", "surrogatepass"))


def _is_json(text: bytes) -> bool:
    try:
        _loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _goes_on(text: str) -> bool:
    """Whether the JSON value at the start of ``text`` (whose end may be missing) runs on over several lines."""
    try:
        _, end = _Decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        end = error.pos
        return text.count("\n", 0, end) > 1
    except RecursionError:
        return False
    return "\n" in text[:end]
