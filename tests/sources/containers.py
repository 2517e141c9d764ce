"""The same rows in every kind of source."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[dict[str, Any]]


def lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def array(rows: Rows) -> bytes:
    """An array whose elements stand on the lines of their numbers."""
    return b"[" + lines(rows).rstrip(b"\n").replace(b"\n", b",\n") + b"]\n"


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def _stream(rows: Rows, path: Path) -> None:
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def _feather(rows: Rows, path: Path) -> None:
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)


def _parquet(rows: Rows, path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=4)


def _saved(rows: Rows, path: Path) -> None:
    from datasets import Dataset

    Dataset.from_list(rows).save_to_disk(str(path), num_shards=2)


def _pushed(rows: Rows, path: Path) -> None:
    """Parquet as the datasets library pushes it to the Hub."""
    from datasets import Dataset

    Dataset.from_list(rows).to_parquet(str(path))


CONTAINERS: dict[str, Callable[[Rows, Path], Any]] = {
    "train.jsonl": lambda rows, path: path.write_bytes(lines(rows)),
    "train.ndjson.gz": lambda rows, path: path.write_bytes(gzip.compress(lines(rows), mtime=0)),
    # Two members, as `cat a.gz b.gz` makes them.
    "train.jsonl.gz": lambda rows, path: path.write_bytes(
        gzip.compress(lines(rows[:2]), mtime=0) + gzip.compress(lines(rows[2:]))
    ),
    "train.jsonl.zst": lambda rows, path: path.write_bytes(zstd(lines(rows[:2])) + zstd(lines(rows[2:]))),
    "train.json": lambda rows, path: path.write_bytes(array(rows)),
    "train.json.gz": lambda rows, path: path.write_bytes(gzip.compress(array(rows), mtime=0)),
    "lines.json": lambda rows, path: path.write_bytes(lines(rows)),
    "train.parquet": _parquet,
    "pushed.parquet": _pushed,
    "stream.arrow": _stream,
    "file.arrow": _feather,
    "saved": _saved,
}
