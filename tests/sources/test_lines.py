"""Files become numbered lines, byte for byte, and what a file is that holds no lines is said."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lint_dataset import sources
from lint_dataset.conversations import convert, parse

ROW = b'{"text": "one"}'
#: Faults about a file as a whole that leave no lines to read, and those said beside the lines.
WHOLE = {"J001", "J002", "J003", "J005", "J007"}
BESIDE = {"J004", "J006", "J016"}


def rows(tmp_path: Path, content: bytes) -> list[sources.RawExample]:
    path = tmp_path / "train.jsonl"
    path.write_bytes(content)
    return list(sources.read(str(path)))


def codes(found: list[sources.RawExample]) -> list[tuple[int, str]]:
    return [(row.line, fault.code) for row in found for fault in row.faults]


def test_lines_are_numbered_and_byte_exact(tmp_path: Path) -> None:
    content = b'{"text": "caf\xc3\xa9"}\n  {"text": "\xe2\x80\xa8"} \n\xff\xfe broken\n{"text": "last, no line end"}'
    found = rows(tmp_path, content)
    assert [(row.line, row.raw) for row in found] == list(enumerate(content.split(b"\n"), 1))
    assert codes(found) == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", [(1, "J002")]),
        (b"\n \r\n\t\n", [(1, "J002")]),
        (b"\xef\xbb\xbf", [(1, "J002")]),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", [(1, "J003")]),
        (b"\xef\xbb\xbf" + ROW + b"\n", [(1, "J004")]),
        ((ROW + b"\n").decode().encode("utf-16"), [(1, "J005")]),
        ((ROW + b"\n").decode().encode("utf-16-be"), [(1, "J005")]),
        ((ROW + b"\n").decode().encode("utf-16-le"), [(1, "J005")]),
        ((ROW + b"\n").decode().encode("utf-32"), [(1, "J005")]),
        (gzip.compress(ROW, mtime=0), [(1, "J005")]),
        (ROW + b"\n" + ROW + b"\r\n" + ROW + b"\r\n", [(2, "J006")]),
        (b"[" + ROW + b"]", [(1, "J007")]),
        (b"[\n  " + ROW + b",\n  " + ROW + b"\n]\n", [(1, "J007")]),
        (b"[" + ROW + b",\n" + ROW + b"]\n", [(1, "J007")]),
        (b'{\n  "text":\n    "one"\n}\n{\n  "text": "two"\n}\n', [(1, "J007")]),
        (b'\n\n{"text":\n"one"}\n', [(1, "J007")]),
        (b"\xef\xbb\xbf[\n" + ROW + b"\n]", [(1, "J007")]),
        (ROW + b"\n\n" + ROW + b"\n  \n", [(2, "J008"), (4, "J008")]),
        (ROW + b"\n\n", [(2, "J008")]),
        (b'{"text": 1' + b"0" * 5000 + b"}\n" + ROW + b"\n", []),
        (b'[{"text": 1' + b"0" * 5000 + b"}]\n", [(1, "J007")]),
    ],
)
def test_what_a_file_is(tmp_path: Path, content: bytes, expected: list[tuple[int, str]]) -> None:
    assert codes(rows(tmp_path, content)) == expected


@pytest.mark.parametrize(
    "content",
    [
        ROW + b"\n" + ROW + b"\n",
        # A row that was cut off, or broken in another way, is no pretty-printed file.
        b'{"messages": [{"role": "user", "content": "a"}\n' + ROW + b"\n" + ROW + b"\n" + ROW + b"\n",
        b'{"text": "a raw line\nbreak"}\n' + ROW + b"\n",
        b'{"messages":[{"role":"user","con\n' + ROW + b"\n" + ROW,
        # One array a line is wrong too, but line by line.
        b"[" + ROW + b"]\n[" + ROW + b"]\n",
        b"[" * 100_000,
    ],
)
def test_broken_lines_are_still_lines(tmp_path: Path, content: bytes) -> None:
    found = rows(tmp_path, content)
    assert [row.raw for row in found] == content.removesuffix(b"\n").split(b"\n")


def test_a_large_array_is_seen_from_its_head(tmp_path: Path) -> None:
    element = b'  {\n    "text": "' + b"x" * 500 + b'"\n  },\n'
    assert codes(rows(tmp_path, b"[\n" + element * 5000)) == [(1, "J007")]


def test_windows_line_ends_are_not_part_of_the_line(tmp_path: Path) -> None:
    found = rows(tmp_path, (ROW + b"\r\n") * 3)
    assert [row.raw for row in found if row.raw is not None] == [ROW] * 3


def test_the_byte_order_mark_is_not_part_of_the_line(tmp_path: Path) -> None:
    found = rows(tmp_path, b"\xef\xbb\xbf" + ROW)
    assert [row.raw for row in found if row.raw is not None] == [ROW]


def test_a_long_line_is_read_whole(tmp_path: Path) -> None:
    long = b'{"text": "' + b"x" * 12_000_000 + b'"}'
    assert [row.raw for row in rows(tmp_path, ROW + b"\n" + long + b"\n" + ROW)] == [ROW, long, ROW]


def test_an_absurdly_long_line_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.example, "LONGEST_LINE", 100)
    long = b"x" * 5_000_000
    found = rows(tmp_path, ROW + b"\n" + long + b"\n" + ROW + b"\n" + b"y" * 99 + b"\n" + b"z" * 100)
    assert codes(found) == [(2, "J015"), (5, "J015")]
    assert found[1].faults[0].data["bytes"] == len(long) + 1
    assert [(row.line, row.raw) for row in found if row.raw is not None] == [(1, ROW), (3, ROW), (4, b"y" * 99)]


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    line = b'{"text": "' + b"x" * 10_000 + b'"}\n'
    with path.open("wb") as file:
        for _ in range(5_000):
            file.write(line)
    tracemalloc.start()
    assert sum(1 for _ in sources.read(str(path))) == 5_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 5


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    problems = {}
    for path in ("absent.jsonl", "absent-*.jsonl", "empty", "a\0b", "absent/" + "x" * 5000):
        (row,) = sources.read(str(tmp_path / path))
        assert (row.line, row.raw) == (1, None)
        problems[path[:14]] = row.faults[0].data["problem"]
    assert problems == {
        "absent.jsonl": "not_found",
        "absent-*.jsonl": "no_match",
        "empty": "folder",
        "a\0b": "unreadable",
        "absent/xxxxxxx": "unreadable",
    }


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in the file system")
def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (row,) = sources.read(str(tmp_path / "pipe.jsonl"))
    assert [fault.code for fault in row.faults] == ["J001"]


def test_a_file_that_changes_while_it_is_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "growing.jsonl"
    path.write_bytes((ROW + b"\n") * 10)
    found = []
    for row in sources.read(str(path)):
        if not found:
            with path.open("ab") as file:
                file.write(ROW + b"\n")
        found.append(row)
    assert codes(found)[-1][1] == "J016"


def test_a_file_that_is_cut_while_it_is_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "shrinking.jsonl"
    path.write_bytes((ROW + b"\n") * 500_000)
    reading = sources.read(str(path))
    next(reading)
    os.truncate(path, 100)
    assert codes(list(reading))[-1][1] == "J016"


def test_paths_folders_and_globs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b.jsonl", "a.ndjson", "deep/er/c.JSONL", "deep/notes.txt", "deep/.git/d.jsonl", "odd[1].jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(ROW)
    monkeypatch.chdir(tmp_path)
    every = ["a.ndjson", "b.jsonl", os.path.join("deep", "er", "c.JSONL"), "odd[1].jsonl"]
    assert sources.expand(["."]) == every
    assert sources.expand(["deep/notes.txt"]) == [os.path.join("deep", "notes.txt")]
    assert sources.expand(["./b.jsonl", "b.jsonl", "*.jsonl"]) == ["b.jsonl", "odd[1].jsonl"]
    assert sources.expand(["odd[1].jsonl"]) == ["odd[1].jsonl"]
    assert sources.expand(["**/*.JSONL"]) == [every[2]]
    assert sources.expand(["de*"]) == [every[2]]
    assert sources.expand(["absent.jsonl", "no-*", "b.jsonl"]) == ["absent.jsonl", "b.jsonl", "no-*"]


json_like = st.lists(
    st.sampled_from([
        b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud83d", b"NaN", b"-", b"1", b"9" * 5000, b"true",
        b"messages", b"role", b"content", b"text", b"\n", b"\r\n", b"\r", b" ", b"\t", b"\x00", b"\xff",
        b"\xef\xbb\xbf", b"[" * 3000, b'{"a":' * 3000, ROW, ROW + b"\n", b'{"messages": [{"role": "user", "content": ',
    ])
).map(b"".join)  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary() | json_like)
@example(b"\xef\xbb\xbf\n")
@example(b"{\n")
@example(b"\r")
def test_any_bytes_give_rows_or_faults(tmp_path: Path, content: bytes) -> None:
    found = rows(tmp_path, content)
    whole = [code for _, code in codes(found) if code in WHOLE]
    lines = [row for row in found if not any(fault.code in BESIDE for fault in row.faults)]
    if whole:
        assert len(lines) == 1
    else:
        assert [row.line for row in lines] == list(range(1, 1 + content.count(b"\n") + (content[-1:] != b"\n")))
    for row in found:
        if row.raw is None:
            assert row.faults
            continue
        value, faults = parse(row.raw)
        assert (value is None) <= bool(faults)
        if value is not None:
            conversation, more = convert(value)
            assert conversation is not None or more
