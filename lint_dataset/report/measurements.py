"""The measurements as a file: one row an example, for notebooks, spreadsheets and other tools."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, BinaryIO

from lint_dataset.report.encode import dumps
from lint_dataset.report.place import writing
from lint_dataset.usage import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

# Rows that become Python objects at a time: it bounds the memory, not the output.
_ROWS = 4096


def check(path: str) -> None:
    """Raise ``UsageError`` unless the name ends in a suffix that :func:`write` knows."""
    _writer(path)


def write(table: pa.Table, path: str, inputs: Iterable[str] = ()) -> None:
    """Write the table in the format that the suffix names: ``.parquet``, ``.jsonl`` or ``.csv``.

    CSV holds nested columns as JSON text and null as nothing. The file is moved into place when it is whole. Raises
    ``UsageError`` for another suffix, for a place that cannot be written, and for one of the ``inputs``.
    """
    writer = _writer(path)
    with writing(path, inputs) as file:
        writer(table, file)


def _writer(path: str) -> Callable[[pa.Table, BinaryIO], None]:
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in _WRITERS:
        raise UsageError(f"measurements cannot be written to {path}: name a file that ends in {', '.join(_WRITERS)}")
    return _WRITERS[suffix]


def _parquet(table: pa.Table, file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, file)


def _jsonl(table: pa.Table, file: BinaryIO) -> None:
    for batch in table.to_batches(max_chunksize=_ROWS):
        for row in batch.to_pylist():
            file.write((dumps(row) + "\n").encode())


def _csv(table: pa.Table, file: BinaryIO) -> None:
    # The text layer must not close the file when it is collected: its owner does.
    text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=_ROWS):
        rows.writerows([_cell(value) for value in row.values()] for row in batch.to_pylist())
    text.detach()


def _cell(value: Any) -> Any:
    """One cell of a CSV file: text as it is, everything else as JSON."""
    return value if value is None or isinstance(value, str) else dumps(value)


_WRITERS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {".parquet": _parquet, ".jsonl": _jsonl, ".csv": _csv}
