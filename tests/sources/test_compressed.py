"""Compressed files: what is whole is judged, what is damaged is said, and nothing fills the memory."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from lint_dataset import sources
from tests.sources.containers import zstd

COMPRESS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstd}
ROW = b'{"text": "one"}'


def read(tmp_path: Path, name: str, content: bytes) -> list[sources.RawExample]:
    (tmp_path / name).write_bytes(content)
    return list(sources.read(str(tmp_path / name)))


def codes(found: list[sources.RawExample]) -> list[tuple[int, str]]:
    return [(row.line, fault.code) for row in found for fault in row.faults]


@pytest.mark.parametrize("ending", COMPRESS)
def test_lines_keep_their_numbers_and_bytes(tmp_path: Path, ending: str) -> None:
    content = ROW + b"\n\n \xff\n" + ROW
    found = read(tmp_path, "train.jsonl" + ending, COMPRESS[ending](content))
    assert [(row.line, row.raw) for row in found] == [(1, ROW), (2, None), (3, b" \xff"), (4, ROW)]


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", [(1, "J002")]),
        (b"\n\n", [(1, "J002")]),
        (b"\xef\xbb\xbf" + ROW, [(1, "J004")]),
        (ROW.decode().encode("utf-16"), [(1, "J005")]),
        (gzip.compress(ROW, mtime=0), [(1, "J005")]),
        (ROW + b"\r\n", [(1, "J006")]),
        (b"[" + ROW + b"]", [(1, "J007")]),
        (ROW + b"\n\n", [(2, "J008")]),
    ],
)
def test_what_a_file_is_is_said_through_compression(
    tmp_path: Path, ending: str, content: bytes, expected: list[tuple[int, str]]
) -> None:
    assert codes(read(tmp_path, "train.jsonl" + ending, COMPRESS[ending](content))) == expected


@pytest.mark.parametrize("name", ["train.jsonl.gz", "train.jsonl.zst", "train.parquet", "train.arrow"])
def test_a_pointer_or_an_empty_file_is_said_whatever_its_name(tmp_path: Path, name: str) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    assert codes(read(tmp_path, name, pointer)) == [(1, "J003")]
    assert codes(read(tmp_path, name, b"")) == [(1, "J002")]


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("kind", [".jsonl", ".json"])
def test_a_file_that_was_cut_off_is_judged_up_to_there(tmp_path: Path, ending: str, kind: str) -> None:
    import random

    rows = [b'{"text": "%d"}' % random.Random(n).getrandbits(400) for n in range(20_000)]
    content = b"\n".join(rows) if kind == ".jsonl" else b"[" + b",\n".join(rows) + b"]"
    whole = COMPRESS[ending](content)
    found = read(tmp_path, "train" + kind + ending, whole[: len(whole) // 2])
    judged = [row.raw for row in found if row.raw is not None]
    assert judged == rows[: len(judged)]
    assert len(judged) > 8_000
    assert codes(found) == [(len(judged) + 1, "J018")]
    assert found[-1].faults[0].data == {"problem": "cut"}


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("kind", [".jsonl", ".json"])
def test_what_is_not_compressed_at_all_is_said(tmp_path: Path, ending: str, kind: str) -> None:
    (row,) = read(tmp_path, "train" + kind + ending, ROW + b"\n" + ROW)
    assert (row.line, row.raw, row.faults[0].code) == (1, None, "J018")


def test_rubbish_behind_the_data_is_said(tmp_path: Path) -> None:
    found = read(tmp_path, "train.jsonl.gz", gzip.compress(ROW + b"\n", mtime=0) + b"rubbish")
    assert [row.raw for row in found] == [ROW, None]
    assert codes(found) == [(2, "J018")]


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize(("kind", "opening"), [(".jsonl", b""), (".json", b'[{"text": "')])
def test_a_bomb_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, kind: str, opening: bytes
) -> None:
    monkeypatch.setattr(sources.example, "LONGEST_LINE", 2**20)
    size = 2**27
    bomb = COMPRESS[ending](opening + b"x" * size)
    assert len(bomb) < size / 500
    tracemalloc.start()
    found = read(tmp_path, "train" + kind + ending, bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert codes(found)[0] == (1, "J015")
    assert found[0].faults[0].data["bytes"] >= size
    assert peak < size / 8


def test_a_pyarrow_without_zstd_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Codec:
        @staticmethod
        def is_available(_: str) -> bool:
            return False

    monkeypatch.setattr("pyarrow.Codec", Codec)
    (row,) = read(tmp_path, "train.jsonl.zst", zstd(ROW))
    assert row.faults[0].code == "J001"
    assert "pip install pyarrow" in row.faults[0].data["reason"]
