"""The blocks of every file, from the table of measurements: one grouping over its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_dataset.loading.places import Block

if TYPE_CHECKING:
    import pyarrow as pa


def blocks_of(table: pa.Table) -> dict[str, list[Block]]:
    """The blocks of each text by its path, in their order. Tables, and texts without a row that can be read, have none.

    Memory grows with the different outlines in a block, not with the rows.
    """
    columns = table.select(["path", "block", "outline", "line"])
    grouped = columns.group_by(["path", "block", "outline"]).aggregate(
        [("line", "count"), ("line", "min"), ("line", "max")]
    )
    order = grouped.sort_by([("path", "ascending"), ("block", "ascending"), ("line_min", "ascending")])
    names = ("path", "block", "outline", "line_count", "line_min", "line_max")
    found: dict[str, dict[int, Block]] = {}
    for path, number, outline, rows, first, last in zip(*(order.column(n).to_pylist() for n in names), strict=True):
        if number is not None and outline is not None:
            found.setdefault(path, {}).setdefault(number, Block()).add(outline, rows, first, last)
    return {path: list(blocks.values()) for path, blocks in found.items()}
