"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lint_dataset.sources.example import RawExample
from lint_dataset.sources.registry import file_format
from lint_dataset.sources.stream import Input
from lint_dataset.sources.tables import BATCH_BYTES, BATCH_ROWS, examples

if TYPE_CHECKING:
    import pyarrow as pa

#: Pages are read through a buffer of this size rather than whole row groups.
_BUFFER = 2**20


@file_format(".parquet")
def _read(source: Input) -> Iterator[RawExample]:
    yield from examples(source.path, _batches(source))


def _batches(source: Input) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source.place or source.file, buffer_size=_BUFFER, pre_buffer=False)
    groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    each = max(1, size // max(1, file.metadata.num_rows))
    # What a file says of itself may be far too little where one long text is stored once for many rows.
    rows = max(1, min(BATCH_ROWS, BATCH_BYTES // each))
    yield from file.iter_batches(batch_size=rows, use_threads=False)
