"""Helpers of rules that speak once a file of all rows of one schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lint_dataset.rules import Judged

Data = dict[str, Any]


def first_of_each_family(judged: Judged) -> Iterator[tuple[int, Data]]:
    """For each file and each schema family in it (``family``): its first row, and how many rows (``rows``) it has."""
    table = judged.rows.table
    first: dict[tuple[str, str], tuple[int, Data]] = {}
    places = zip(table.column("path").to_pylist(), table.column("family").to_pylist(), strict=True)
    for row, (path, family) in enumerate(places):
        if family is not None:
            first.setdefault((path, family), (row, {"family": family, "rows": 0}))[1]["rows"] += 1
    yield from first.values()


def rows_of(data: Data) -> str:
    """How many rows, in words."""
    return f"{data['rows']:,} row{'' if data['rows'] == 1 else 's'}"
