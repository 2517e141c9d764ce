"""The JSON of one line: what is wrong, and at which column."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_dataset.conversations import parse


@pytest.mark.parametrize(
    ("line", "problem", "at"),
    [
        # `at` is the text at which the column points.
        ('{"a": [1, 2,], "b": 3}', "trailing_comma", ",]"),
        ('{"a": 1 , }', "trailing_comma", ", }"),
        ("{'a': 1}", "single_quotes", "'a'"),
        ("{\"a\": 'x'}", "single_quotes", "'x'"),
        ('{"a": 1},', "comma_at_end", ","),
        ('{"a": 1} {"b": 2}', "second_value", '{"b"'),
        ('{"a": 1}{"b": 2}', "second_value", '{"b"'),
        ('{"a": 1} # done', "extra_text", "#"),
        ('{"a": True}', "python_literal", "True"),
        ('{"a": None}', "python_literal", "None"),
        ('{"a": 1, // one', "comment", "//"),
        ("{a: 1}", "unquoted_key", "a:"),
        ('{"a": "x" "b": 1}', "missing_comma", '"b"'),
        ('{"a": [1 2]}', "missing_comma", "2]"),
        ('{"a": "so "called" x"}', "unescaped_quote", 'called"'),
        ('{"a": "C:\\data"}', "bad_escape", "\\d"),
        ('{"a": "x\ty"}', "control_character", "\t"),
        ('\ufeff{"a": 1}', "byte_order_mark", "\ufeff"),
        ('{"a" 1}', "syntax", "1}"),
    ],
)
def test_what_a_syntax_error_looks_like(line: str, problem: str, at: str) -> None:
    value, (fault,) = parse(line.encode())
    assert value is None
    assert (fault.code, fault.data["problem"]) == ("J010", problem)
    assert line[fault.data["column"] - 1 :].startswith(at)


@pytest.mark.parametrize("end", ['{"a": "tex', '{"a": "text"', '{"a": [1, 2', '{"a":', '{"a": "x", ', "{"])
def test_a_cut_line_is_said_to_be_cut_at_its_end(end: str) -> None:
    value, (fault,) = parse(end.encode())
    assert value is None
    assert (fault.code, fault.data["problem"]) == ("J010", "cut")
    assert fault.data["column"] == len(end.rstrip()) + 1


def test_columns_count_characters_and_bytes_where_there_are_none() -> None:
    assert parse('{"é": 1,}'.encode())[1][0].data["column"] == 8
    fault = parse('{"é": "caf'.encode() + b'\xe9"}')[1][0]
    assert (fault.code, fault.data) == ("J009", {"column": 12, "byte": 0xE9})


@pytest.mark.parametrize(
    ("line", "code", "data"),
    [
        (b'[{"from": "human", "value": "a"}]', "J011", {"got": "array", "items": 1, "objects_with": ["from"]}),
        (b"[]", "J011", {"got": "array", "items": 0}),
        (b"3", "J011", {"got": "number"}),
        (b"null", "J011", {"got": "null"}),
        (json.dumps(json.dumps({"text": "a"})).encode(), "J011", {"got": "string", "encoded_twice": True}),
        (b'"just words"', "J011", {"got": "string", "encoded_twice": False}),
        (b'{"messages": [{"content": "party \\ud83d time"}]}', "J014", {"where": "messages[0].content"}),
        (b'{"a": {"\\udc00": 1}}', "J014", {"where": "a"}),
        (b" \t ", "J008", {}),
    ],
)
def test_lines_that_leave_nothing_to_judge(line: bytes, code: str, data: dict[str, Any]) -> None:
    value, (fault,) = parse(line)
    assert value is None
    assert (fault.code, fault.data) == (code, data)


@pytest.mark.parametrize(
    ("line", "code", "data"),
    [
        (b'{"text": "a", "n": {"k": 1, "k": 2}}', "J012", {"key": "k"}),
        (b'{"text": "a", "n": NaN}', "J013", {"number": "NaN"}),
        (b'{"text": "a", "n": [-Infinity]}', "J013", {"number": "-Infinity"}),
        (b'{"text": "a", "n": 9223372036854775808}', "J013", {"number": "integer", "digits": 19}),
        (b'{"text": "a", "n": -' + b"1" * 10_000 + b"}", "J013", {"number": "integer", "digits": 10_000}),
    ],
)
def test_lines_that_python_lets_pass(line: bytes, code: str, data: dict[str, Any]) -> None:
    value, (fault,) = parse(line)
    assert value["text"] == "a"
    assert (fault.code, fault.data) == (code, data)


@pytest.mark.parametrize("depth", [300, 5_000, 200_000])
@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting_is_a_fault(depth: int, closed: bool) -> None:
    line = b'{"a":' * depth + (b"1" + b"}" * depth if closed else b"")
    value, (fault,) = parse(line)
    assert value is None
    assert fault.code == ("J010" if not closed and depth == 300 else "J017")


def test_a_long_conversation_is_not_deep() -> None:
    row = {"messages": [{"role": "user", "content": "[{" * 50}] * 500}
    assert parse(json.dumps(row).encode()) == (row, [])


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(2**63), 2**63 - 1)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=20,
        ),
    )
)
def test_what_json_writes_is_read_back_without_fault(row: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        assert parse(json.dumps(row, ensure_ascii=ascii_only).encode()) == (row, [])
