"""Whatever a file of any kind holds: rows or faults, never an exception."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lint_dataset import sources
from lint_dataset.conversations import convert, parse
from tests.sources.containers import CONTAINERS, array, lines, zstd

ROWS = [
    {"messages": [{"role": "user", "content": f"é {n}"}], "audio": {"bytes": b"RIFF", "path": None}} for n in (1, 2)
]
TEXTS = [{"text": "one"}, {"text": "two [{\\"}]
NAMES = ("t.jsonl.gz", "t.json", "t.json.gz", "t.jsonl.zst", "t.parquet", "t.arrow", "t.feather")


@cache
def whole(name: str, folder: Path) -> bytes:
    """A good file of this kind."""
    if name.endswith((".gz", ".zst", ".json")):
        text = array(TEXTS) if ".json." in name or name.endswith(".json") else lines(TEXTS)
        return gzip.compress(text, mtime=0) if name.endswith(".gz") else zstd(text) if name.endswith(".zst") else text
    container = {"t.parquet": "train.parquet", "t.arrow": "stream.arrow", "t.feather": "file.arrow"}[name]
    CONTAINERS[container](ROWS, folder / "whole")
    return (folder / "whole").read_bytes()


changes = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_bytes=st.none() | st.binary(), changed=changes, kept=st.just(1.0) | st.floats(0, 1))
def test_any_bytes_give_rows_or_faults(
    tmp_path: Path, name: str, any_bytes: bytes | None, changed: list[tuple[float, int]], kept: float
) -> None:
    content = bytearray(whole(name, tmp_path) if any_bytes is None else any_bytes)
    for place, byte in changed:
        if content:
            content[int(place * len(content))] = byte
    (tmp_path / name).write_bytes(content[: int(kept * len(content))])
    found = list(sources.read(str(tmp_path / name)))
    assert found
    for row in found:
        if row.raw is None:
            assert row.faults
            continue
        value = sources.restore(parse(row.raw)[0], row.blobs)
        if value is not None:
            conversation, faults = convert(value)
            assert conversation is not None or faults
