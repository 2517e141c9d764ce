"""Files with one thing in them that loaders disagree about, and the rows that whoever wrote each of them meant.

Only the standard library: ``record.py`` runs this in the environments of the loaders.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any, NamedTuple

Row = dict[str, Any]

#: The datasets library reads a file in blocks of about so many bytes.
BLOCK = 10 << 20


class Kind(NamedTuple):
    """A file, and its rows; ``rows`` is None where the file does not say what was meant."""

    content: bytes
    rows: list[Row] | None


def chat(content: Any = "hi", **more: Any) -> Row:
    """A row of two messages."""
    return {"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": "yo"}], **more}


def said(question: Any, answer: Any) -> Row:
    """A row of two messages with these contents."""
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}


def tool(**properties: str) -> Row:
    """A tool with these parameters."""
    return {"name": "f", "parameters": {"type": "object", "properties": properties}}


def call(arguments: Any) -> Row:
    """A row whose assistant calls a tool."""
    calls = [{"function": {"name": "f", "arguments": arguments}}]
    return {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": calls}]}


def jsonl(rows: list[Row]) -> bytes:
    """The rows, one a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _of(*rows: Row) -> Callable[[int], Kind]:
    return lambda block: Kind(jsonl(list(rows)), list(rows))


def _text(content: bytes, *rows: Row) -> Callable[[int], Kind]:
    return lambda block: Kind(content, list(rows))


def _broken(line: bytes) -> Callable[[int], Kind]:
    return lambda block: Kind(jsonl([chat()]) + line + jsonl([chat()]), None)


def _later(first: Row, later: Row) -> Callable[[int], Kind]:
    """More than a block of one row, then another, then some more of the first."""

    def build(block: int) -> Kind:
        size = len(jsonl([first]))
        rows = [first] * (block // size + 50) + [later] + [first] * 50
        return Kind(jsonl(rows), rows)

    return build


def _parts(text: str) -> Row:
    return said([{"type": "text", "text": text}], [{"type": "text", "text": text}])


def _mixed_first(first: Row, second: Row, later: Row) -> Callable[[int], Kind]:
    """Two kinds of rows in the first block, and a third behind it."""

    def build(block: int) -> Kind:
        rows = _later(first, later)(block).rows or []
        rows = [first, second, *rows]
        return Kind(jsonl(rows), rows)

    return build


def _block_later(first: Row, later: Row) -> Callable[[int], Kind]:
    """A block of one row, then nothing but another."""

    def build(block: int) -> Kind:
        # The last row of the first block is the one that crosses its end.
        rows = [first] * (block // len(jsonl([first])) + 1) + [later] * 50
        return Kind(jsonl(rows), rows)

    return build


LONG = "x" * 400
PARTS = [{"type": "text", "text": "a"}]
_LATIN = b'{"messages": [{"role": "user", "content": "caf\xe9"}, {"role": "assistant", "content": "c"}]}\n'
_HALF = b'{"messages": [{"role": "user", "content": "a \\ud83d b"}, {"role": "assistant", "content": "c"}]}\n'
_TWICE = b'{"messages": [{"role": "user", "content": "a", "content": "b"}, {"role": "assistant", "content": "c"}]}\n'
_RAW = b'{"messages": [{"role": "user", "content": "a\nb"}, {"role": "assistant", "content": "c"}]}\n'
_GOOD = jsonl([chat()])

KINDS: dict[str, Callable[[int], Kind]] = {
    "plain": _of(chat(), chat("again")),
    "byte_order_mark": _text(b"\xef\xbb\xbf" + _GOOD * 2, chat(), chat()),
    "windows_line_ends": _text((_GOOD * 2).replace(b"\n", b"\r\n"), chat(), chat()),
    "line_separator_in_text": _of(chat("a\u2028b"), chat()),
    "no_last_line_end": _text((_GOOD * 2).rstrip(b"\n"), chat(), chat()),
    "blank_line": _text(_GOOD + b"\n" + _GOOD, chat(), chat()),
    "blank_last_line": _text(_GOOD * 2 + b"\n", chat(), chat()),
    "pretty_printed": _text("\n".join(json.dumps(chat(), indent=1) for _ in "ab").encode(), chat(), chat()),
    "two_objects_on_a_line": _text(_GOOD.rstrip() + _GOOD, chat(), chat()),
    "array_file": _text(json.dumps([chat(), chat()]).encode(), chat(), chat()),
    "array_on_each_line": lambda block: Kind(b'[{"role": "user"}, {"role": "tool"}]\n' * 2, None),
    "trailing_comma": _broken(b'{"messages": [{"role": "user", "content": "a"},]}\n'),
    "comma_at_end": _broken(b'{"messages": [{"role": "user", "content": "a"}]},\n'),
    "single_quotes": _broken(b"{'messages': []}\n"),
    "cut_last_line": lambda block: Kind(_GOOD * 2 + _GOOD[:30], None),
    "raw_line_break": _broken(_RAW),
    "latin_1_byte": lambda block: Kind(_GOOD + _LATIN + _GOOD, None),
    "lone_surrogate": _broken(_HALF),
    "duplicate_key": _broken(_TWICE),
    "lone_surrogate_alone": lambda block: Kind(_HALF, None),
    "duplicate_key_alone": lambda block: Kind(_TWICE, None),
    "nan": lambda block: Kind(b'{"text": "a", "score": NaN}\n{"text": "b", "score": 1.5}\n', None),
    "integer_over_64_bits": lambda block: Kind(b'{"text": "a", "n": 12345678901234567890123}\n{"text": "b"}\n', None),
    "nested_300_deep": lambda block: Kind(b'{"text": "a", "n": ' + b'{"a":' * 300 + b"1" + b"}" * 300 + b"}\n", None),
    "utf_16": lambda block: Kind((_GOOD * 2).decode().encode("utf-16"), None),
    "empty": lambda block: Kind(b"", None),
    "only_blank_lines": lambda block: Kind(b"\n\n", None),
    "csv": lambda block: Kind(b"prompt,completion\na,b\nc,d\n", None),
    "line_of_12_mb": _of(chat("x" * 12_000_000), chat()),
    "column_string_number": _of(chat(id="a"), chat(id=5)),
    "column_string_object": _of(chat(meta="a"), chat(meta={"k": "v"})),
    "column_number_object": _of(chat(meta=5), chat(meta={"k": "v"})),
    "column_string_list": _of(chat(image="a.png"), chat(image=["a.png", "b.png"])),
    "column_string_boolean": _of(chat(flag="yes"), chat(flag=True)),
    "column_number_boolean": _of(chat(flag=1), chat(flag=True)),
    "column_integer_float": _of(chat(score=1), chat(score=1.5)),
    "content_string_list": _of(chat(), chat(PARTS)),
    "content_list_string": _of(chat(PARTS), chat()),
    "content_string_number": _of(chat(), chat(5)),
    "content_string_null": _of(chat(), chat(None)),
    "content_null_list": _of(said(None, None), said(PARTS, PARTS)),
    "content_json_text_and_list": _of(chat("42"), chat(PARTS)),
    "column_json_text_and_number": _of(chat(id="42"), chat(id=5), chat(id="a")),
    "column_boolean_and_list": _of(chat(flag=True), chat(flag=[1])),
    "column_objects_and_null": _of(chat(meta={"a": 1}), chat(meta=None)),
    "column_list_of_lists_mixed": _of(chat(pairs=[["a", "b"]]), chat(pairs=[["a", 1]])),
    "arguments_object_string": _of(call({"x": 1}), call('{"x": 1}')),
    "arguments_string_number": _of(call({"x": 1}), call({"x": "a"})),
    "arguments_keys_differ": _of(call({"x": 1}), call({"y": "s"})),
    "arguments_keys_added": _of(call({"x": 1}), call({"x": 2, "y": "s"})),
    "parts_keys_differ": _of(said([{"type": "audio", "audio": "a.wav"}, *PARTS], PARTS), said(PARTS, PARTS)),
    "tools_keys_differ": _of(chat(tools=[tool(x="a")]), chat(tools=[tool(y="b")])),
    "message_keys_differ": _of(chat(), call({"x": 1})),
    "column_absent_in_some": _of(chat(), chat(id=1), chat()),
    "content_list_later": _later(chat(LONG), chat(PARTS)),
    "content_number_later": _later(chat(LONG), chat(5)),
    "content_string_later": _later(_parts(LONG), chat("text")),
    "content_list_later_in_mixed": _later(chat([{"type": "text", "text": LONG}]), _parts("b")),
    "system_list_later": _later(chat(LONG, system="a"), chat(system=["a"])),
    "arguments_integer_string_later": _later(call({"x": 1, "y": LONG}), call({"x": "a", "y": LONG})),
    "content_null_later": _later(chat(LONG), chat(None)),
    "column_number_later": _later(chat(LONG, id="a"), chat(id=5)),
    "column_string_later": _later(chat(LONG, id=5), chat(id="a")),
    "column_float_later": _later(chat(LONG, id=5), chat(id=1.5)),
    "column_integer_later": _later(chat(LONG, id=5.5), chat(id=2)),
    "column_mixed_then_list_later": _mixed_first(chat(LONG, id="a"), chat(id=5), chat(id=["a"])),
    "column_list_later": _later(chat(LONG, image="a.png"), chat(image=["a.png"])),
    "column_string_after_lists_later": _later(chat(LONG, image=["a.png"]), chat(image="a.png")),
    "column_string_after_objects_later": _later(chat(LONG, meta={"k": "v"}), chat(meta="a")),
    "column_string_after_booleans_later": _later(chat(LONG, flag=True), chat(flag="yes")),
    "column_number_after_booleans_later": _later(chat(LONG, flag=True), chat(flag=1)),
    "column_float_after_strings_later": _later(chat(LONG, id="a"), chat(id=1.5)),
    "column_boolean_after_strings_later": _later(chat(LONG, id="a"), chat(id=True)),
    "column_object_after_lists_later": _later(chat(LONG, image=["a.png"]), chat(image={"path": "a.png"})),
    "column_object_key_added_later": _later(chat(LONG, meta={"k": 1}), chat(meta={"k": 1, "l": 2})),
    "column_object_key_missing_later": _later(chat(LONG, meta={"k": 1, "l": 2}), chat(meta={"k": 1})),
    "item_of_list_number_later": _later(chat(LONG, tags=["a"]), chat(tags=["a", 1])),
    "whole_block_of_numbers_later": _block_later(chat(LONG, id="a"), chat(LONG, id=5)),
    "whole_block_of_lists_later": _block_later(chat(LONG, image="a"), chat(LONG, image=["a"])),
    "whole_block_of_floats_later": _block_later(chat(LONG, id=5), chat(LONG, id=1.5)),
    "whole_block_of_whole_floats_later": _block_later(chat(LONG, id=5), chat(LONG, id=1.0)),
    "whole_block_of_dates_later": _block_later(chat(LONG, day="soon"), chat(LONG, day="2024-01-01")),
    "integer_and_float_first_float_later": _mixed_first(chat(LONG, id=5), chat(id=1.5), chat(id=2.5)),
    "column_object_later": _later(chat(LONG, meta="a"), chat(meta={"k": "v"})),
    "column_boolean_later": _later(chat(LONG, flag=1), chat(flag=True)),
    "arguments_string_later": _later(call({"x": LONG}), call("{}")),
    "arguments_keys_later": _later(call({"x": LONG}), call({"y": "s"})),
    "null_filled_later": _later(chat(LONG, note=None), chat(note="a")),
    "null_filled_with_object_later": _later(chat(LONG, note=None), chat(note={"k": 1})),
    "null_inside_filled_later": _later(chat(LONG, meta={"k": None, "l": 1}), chat(meta={"k": "v", "l": 1})),
    "empty_list_filled_later": _later(chat(LONG, tools=[]), chat(tools=[{"name": "f"}])),
    "empty_object_filled_later": _later(chat(LONG, meta={}), chat(meta={"k": 1})),
    "column_absent_filled_later": _later(chat(LONG), chat(id=1)),
    "message_key_absent_filled_later": _later(chat(LONG), call({"x": 1})),
    "column_absent_later": _later(chat(LONG, id=1), chat()),
    "dates": _of(chat(day="2024-01-01"), chat(day="2024-01-02")),
    "date_times": _of(chat(day="2024-01-01 10:00:00"), chat(day="2024-01-02 10:00:00")),
    "date_and_other_text": _of(chat(day="2024-01-01"), chat(day="soon")),
    "dates_then_text_later": _later(chat(LONG, day="2024-01-01"), chat(day="soon")),
    "gzip_plain": lambda block: Kind(gzip.compress(_GOOD * 2, mtime=0), [chat(), chat()]),
}

#: Kinds whose files end in something else.
ENDINGS = {"gzip_plain": ".jsonl.gz"}
