"""Folders that ``Dataset.save_to_disk`` of the datasets library wrote. Rows are numbered through all their files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lint_dataset.sources.example import RawExample
from lint_dataset.sources.formats.arrow import batches
from lint_dataset.sources.registry import place
from lint_dataset.sources.stream import Input
from lint_dataset.sources.tables import examples

if TYPE_CHECKING:
    import pyarrow as pa

_STATE = "state.json"
_INFO = "dataset_info.json"


def _is_saved(path: str) -> bool:
    return all(os.path.isfile(os.path.join(path, name)) for name in (_STATE, _INFO))


@place(_is_saved)
def _read(path: str, fetch: bool) -> Iterator[RawExample]:
    yield from examples(path, _batches(path))


def _batches(folder: str) -> Iterator[pa.RecordBatch]:
    with open(os.path.join(folder, _STATE), encoding="utf-8") as file:
        state = json.load(file)
    for part in state["_data_files"]:
        name = os.path.join(folder, part["filename"])
        with open(name, "rb", buffering=0) as file:
            yield from batches(Input(folder, file, name))
