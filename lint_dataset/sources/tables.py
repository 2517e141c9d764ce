"""Tables → raw examples: each row as JSON text that says the same every time, its bytes beside it.

The text has the columns in their order and null where the table has null: a column that only some rows fill is seen by
a chat template, so nothing is taken out. Text, numbers and booleans are as they are; NaN and infinity, which JSON does
not have, are null; dates, decimals and the like are their usual text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lint_dataset.faults import Fault
from lint_dataset.sources import example
from lint_dataset.sources.example import RawExample, about_file, reference

if TYPE_CHECKING:
    import pyarrow as pa

#: About how many bytes of rows become Python objects at a time, and how many rows at most.
BATCH_BYTES = 8_000_000
BATCH_ROWS = 100
_LARGEST = 2**63
_Change = Callable[[Any], Any]


def examples(path: str, batches: Iterable[pa.RecordBatch]) -> Iterator[RawExample]:
    """The rows of a table, numbered from 1. Where it is damaged they end, and that is said."""
    number = 0
    try:
        for batch in batches:
            for row in _rows(path, batch, number):
                number += 1
                yield row
    except Exception as error:  # Arrow, the file system and Python name their reasons, and there are many.
        yield about_file(path, Fault("J018", {"problem": "table", "reason": _reason(error)}), number + 1)
        return
    if not number:
        yield about_file(path, Fault("J002", {"rows": 0}))


def checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, if every length and offset in it is right. Raises ``pyarrow.ArrowInvalid`` if not.

    Arrow trusts what it maps: a wrong offset would be read from anywhere. Whether text is UTF-8 is seen row by row.
    """
    import pyarrow as pa

    for column in batch.columns:
        # Where a layout cannot be viewed as another, its text is checked with the rest.
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError):
            column = column.view(_without_text(column.type))
        column.validate(full=True)
    return batch


def _without_text(kind: pa.DataType) -> pa.DataType:
    """The type with bytes in place of text."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _without_text(kind.storage_type)
    if pa.types.is_string(kind):
        return pa.binary()
    if pa.types.is_large_string(kind):
        return pa.large_binary()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_text(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_text(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_without_text(kind.value_type)))
    return kind


def _rows(path: str, batch: pa.RecordBatch, before: int) -> Iterator[RawExample]:
    names = [json.dumps(name, ensure_ascii=False) for name in batch.schema.names]
    changes = [_change(kind) for kind in batch.schema.types]
    step = max(1, min(BATCH_ROWS, BATCH_BYTES * batch.num_rows // max(1, batch.nbytes)))
    for start in range(0, batch.num_rows, step):
        part = batch.slice(start, step)
        try:
            columns = [column.to_pylist() for column in part.columns]
        except Exception:  # One row that Python cannot hold must not take the others with it.
            columns = None
        for row in range(part.num_rows):
            number = before + start + row + 1
            try:
                values = [c[row] for c in columns] if columns is not None else [_value(c[row]) for c in part.columns]
            except UnicodeDecodeError as error:
                # The text itself stands for the row: reading it finds the byte.
                yield RawExample(path, number, bytes(error.object))
                continue
            changed = [v if c is None or v is None else c(v) for v, c in zip(values, changes, strict=True)]
            yield _example(path, number, names, changed)


def _value(scalar: pa.Scalar) -> Any:
    """One value; null for one that Python does not have (a date after the year 9999)."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        raise
    except Exception:  # Each type has its own.
        return None


def _example(path: str, number: int, names: list[str], values: list[Any]) -> RawExample:
    blobs: dict[str, bytes] = {}

    def other(value: Any) -> Any:
        """What JSON does not have."""
        if isinstance(value, bytes):
            digest = hashlib.sha256(value).hexdigest()
            blobs[digest] = value
            return reference(digest)
        if hasattr(value, "tolist"):  # Tensors, and numbers of numpy.
            return value.tolist()
        return value.isoformat() if hasattr(value, "isoformat") else str(value)

    def text(ascii_only: bool) -> str:
        encoder = json.JSONEncoder(ensure_ascii=ascii_only, separators=(",", ":"), default=other)
        pairs = zip(names, values, strict=True)
        return "{" + ",".join(f"{name}:{encoder.encode(value)}" for name, value in pairs) + "}"

    try:
        raw = text(False).encode()
    except UnicodeEncodeError:  # Half of a surrogate pair, from a column of JSON: only an escape can hold it.
        raw = text(True).encode()
    size = len(raw) + sum(map(len, blobs.values()))
    if size > example.LONGEST_LINE:
        return RawExample(path, number, None, (Fault("J015", {"bytes": size, "limit": example.LONGEST_LINE}),))
    return RawExample(path, number, raw, (), blobs)


def _change(kind: pa.DataType) -> _Change | None:
    """What has to be done to the values of a type before they are JSON; None where nothing has to be."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        # Columns of JSON are text in the file; the datasets library gives their values to the trainer.
        return _parsed if kind.extension_name == "arrow.json" else _change(kind.storage_type)
    if pa.types.is_floating(kind):
        return _finite
    if kind == pa.uint64():
        return lambda value: value if value < _LARGEST else str(value)
    if pa.types.is_dictionary(kind):
        return _change(kind.value_type)
    if pa.types.is_struct(kind):
        inner = {field.name: change for field in kind if (change := _change(field.type)) is not None}
        return (lambda value: _in_struct(value, inner)) if inner else None
    if hasattr(kind, "value_type") and not pa.types.is_map(kind):
        item = _change(kind.value_type)
        return (lambda value: [v if v is None else item(v) for v in value]) if item is not None else None
    return None


def _in_struct(value: Any, changes: dict[str, _Change]) -> Any:
    return {key: changes[key](v) if key in changes and v is not None else v for key, v in value.items()}


def _finite(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def _parsed(value: Any) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _reason(error: Exception) -> str:
    first = str(error).strip().splitlines()
    return (first[0] if first else type(error).__name__)[:160]
