"""Arrow IPC files, in the file format (Feather) and in the stream format (what the datasets library writes)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lint_dataset.sources.example import RawExample
from lint_dataset.sources.registry import file_format
from lint_dataset.sources.stream import Input
from lint_dataset.sources.tables import checked, examples

if TYPE_CHECKING:
    import pyarrow as pa

_FILE = b"ARROW1"


@file_format(".arrow", ".feather")
def _read(source: Input) -> Iterator[RawExample]:
    yield from examples(source.path, batches(source))


def batches(source: Input) -> Iterator[pa.RecordBatch]:
    """The record batches of a file, checked. A local file is mapped: a batch may be all of it."""
    import pyarrow as pa

    with pa.memory_map(source.place) if source.place is not None else pa.PythonFile(source.file, "r") as file:
        magic = file.read(len(_FILE))
        file.seek(0)
        if magic == _FILE:
            reader = pa.ipc.open_file(file)
            for number in range(reader.num_record_batches):
                yield checked(reader.get_batch(number))
        else:
            for batch in pa.ipc.open_stream(file):
                yield checked(batch)
