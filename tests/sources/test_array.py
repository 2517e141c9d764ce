"""JSON arrays: each element is a row at the line where it begins, and a broken one spoils no other."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lint_dataset import sources
from tests.finding import find_in

ROW = b'{"text": "one"}'


def read(tmp_path: Path, content: bytes) -> list[sources.RawExample]:
    (tmp_path / "train.json").write_bytes(content)
    return list(sources.read(str(tmp_path / "train.json")))


def codes(found: list[sources.RawExample]) -> list[tuple[int, str]]:
    return [(row.line, fault.code) for row in found for fault in row.faults]


def test_rows_are_at_the_line_of_their_first_byte(tmp_path: Path) -> None:
    content = b'\n[\n  {\n    "text": "a, [b] }\\" \\\\"\n  },\n\n  {"text": "c"}  , {"text":\n"d"}\n]\n'
    assert [(row.line, row.raw) for row in read(tmp_path, content)] == [
        (3, b'{\n    "text": "a, [b] }\\" \\\\"\n  }'),
        (7, b'{"text": "c"}'),
        (7, b'{"text":\n"d"}'),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[]", [(1, "J002")]),
        (b"[\n]\n", [(1, "J002")]),
        (b"\xef\xbb\xbf[" + ROW + b"]", [(1, "J004")]),
        (b"[" + ROW + b",\n" + ROW + b",\n]", [(3, "J010")]),
        (b"[" + ROW + b",\n,\n" + ROW + b"]", [(2, "J010")]),
        (b"[" + ROW + b",\n" + ROW, [(2, "J018")]),
        (b"[" + ROW + b"]\n" + ROW, [(2, "J018")]),
        (b'{"data": [' + ROW + b"]}", [(1, "J007")]),
        (b'{\n "version": {"a": [1]},\n "rows": [\n' + ROW + b",\n" + ROW + b"]}", [(1, "J007")]),
        (b'\n{\n  "text": "one"\n}', []),
        (b'{\n  "text": "one"\n}\n{\n  "text": "two"\n}', [(1, "J007")]),
        # Lines in spite of the ending, and one row of messages, which is a list of objects too.
        (ROW + b"\n" + ROW, []),
        (b'{"messages": [{"role": "user", "content": "a"}]}', []),
        (b'{"conversations": [{"from": "human", "value": "a"}]}\n', []),
    ],
)
def test_what_the_file_is(tmp_path: Path, content: bytes, expected: list[tuple[int, str]]) -> None:
    assert codes(read(tmp_path, content)) == expected


def test_rows_under_a_key_are_said_with_the_key(tmp_path: Path) -> None:
    (tmp_path / "train.json").write_bytes(b'{"info": "x", "examples": [\n' + ROW + b"," * 3)
    (finding,) = find_in(str(tmp_path / "train.json"))
    assert '"examples"' in finding.message
    assert "examples" in finding.remedy


def test_a_broken_row_spoils_no_other(tmp_path: Path) -> None:
    content = b"[\n" + ROW + b',\n{\n"text": "a",\n},\n{"text": nope},\n' + ROW + b"\n]"
    (tmp_path / "train.json").write_bytes(content)
    findings = find_in(str(tmp_path / "train.json"))
    assert [(finding.line, finding.code) for finding in findings] == [(3, "J010"), (6, "J010")]
    assert "line 2 of the row, column 12: a comma before" in findings[0].message
    assert len([row for row in read(tmp_path, content) if row.raw is not None]) == 4


def test_the_rest_of_an_array_that_a_quote_swallows_is_said(tmp_path: Path) -> None:
    content = b'[{"text": "one},\n' + ROW + b"]"
    (tmp_path / "train.json").write_bytes(content)
    assert {(finding.line, finding.code) for finding in find_in(str(tmp_path / "train.json"))} >= {(1, "J010")}


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.sampled_from('a"\\,[]{}\n é'), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"\\]', max_size=2), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(values, min_size=1), st.none() | st.integers(0, 3), st.booleans(), st.sampled_from([7, 64, 2**20]))
def test_every_array_is_cut_where_its_elements_end(
    tmp_path: Path, rows: list[object], indent: int | None, ascii_only: bool, piece: int
) -> None:
    content = json.dumps(rows, indent=indent, ensure_ascii=ascii_only).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources.example, "HEAD", piece)
        found = read(tmp_path, content)
    assert [json.loads(row.raw or b"") for row in found] == rows
    at = 0
    for row in found:
        at = content.index(row.raw or b"", at)
        assert row.line == 1 + content.count(b"\n", 0, at)
        at += len(row.raw or b"")


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    with path.open("wb") as file:
        file.write(b"[")
        for n in range(3_000):
            file.write((b"," if n else b"") + b'{"text": "' + b"x" * 10_000 + b'"}\n')
        file.write(b"]")
    tracemalloc.start()
    assert sum(row.raw is not None for row in sources.read(str(path))) == 3_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 4
