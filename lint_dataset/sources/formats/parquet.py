"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lint_dataset.faults import Fault
from lint_dataset.sources.example import RawExample, about_file
from lint_dataset.sources.registry import file_format
from lint_dataset.sources.stream import Input
from lint_dataset.sources.tables import BATCH_BYTES, BATCH_ROWS, examples

if TYPE_CHECKING:
    import pyarrow as pa

#: The first columns of a file of measurements.
_OWN = ["path", "line", "block", "hash", "family", "tokens"]
#: Pages are read through a buffer of this size rather than whole row groups.
_BUFFER = 2**20


@file_format(".parquet")
def _read(source: Input) -> Iterator[RawExample]:
    if _is_own(source):
        yield about_file(source.path, Fault("J025", {"holds": "measurements"}))
        return
    yield from examples(source.path, _batches(source))


def _is_own(source: Input) -> bool:
    """Whether these are measurements that this program wrote. A damaged file is not."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = pq.ParquetFile(source.place or source.file).schema_arrow.names
    except (pa.ArrowException, OSError):
        return False
    finally:
        if source.place is None:
            source.file.seek(0)
    return names[: len(_OWN)] == _OWN and "faults" in names


def _batches(source: Input) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source.place or source.file, buffer_size=_BUFFER, pre_buffer=False)
    groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    each = max(1, size // max(1, file.metadata.num_rows))
    # What a file says of itself may be far too little where one long text is stored once for many rows.
    rows = max(1, min(BATCH_ROWS, BATCH_BYTES // each))
    yield from file.iter_batches(batch_size=rows, use_threads=False)
