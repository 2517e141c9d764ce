"""The measured rows as columns: what reach, memory and the rules compute with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from lint_dataset.loading.places import Block

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Spans:
    """Half-open token spans of all rows, end to end: span ``i`` belongs to row ``row[i]``."""

    row: Ints
    start: Ints
    end: Ints

    def within(self, others: Spans) -> Ints:
        """For each span, how many of its tokens lie in the others of its row.

        The others are in the order of rows and tokens, and none overlaps the next.
        """
        return others.before(self.row, self.end) - others.before(self.row, self.start)

    def before(self, row: Ints, token: Ints) -> Ints:
        """How many tokens of these spans, which are in order, lie before a token of a row, or in an earlier row."""
        if not len(self.row):
            return np.zeros(len(row), np.int64)
        length = self.end - self.start
        # Every token of every row as one number, so that one search finds the last span that starts at it or before.
        scale = max(int(self.end.max()), int(token.max(initial=0))) + 1
        last = np.searchsorted(self.row * scale + self.start, row * scale + token, "right") - 1
        into = np.where(self.row[last] == row, np.minimum(token - self.start[last], length[last]), length[last])
        found: Ints = np.where(last < 0, 0, np.cumsum(length)[last] - length[last] + into)
        return found

    def sum_by_row(self, values: Ints, rows: int) -> Ints:
        """The sum of a value of each span over the spans of each row."""
        total: Ints = np.zeros(rows, np.int64)
        np.add.at(total, self.row, values)
        return total


@dataclass(frozen=True)
class Answers(Spans):
    """The assistant's turns, each up to the end of its end-of-turn marker.

    ``text_end`` is the token at which the text ends and the marker begins, ``turn`` the number of the answer in its
    row (from 0), ``last`` whether it is the row's last, ``trained`` False where the data switches it off.
    """

    text_end: Ints
    turn: Ints
    last: Bools
    trained: Bools


@dataclass(frozen=True)
class Media(Spans):
    """Audio clips and images. ``seconds`` is NaN where not known."""

    audio: Bools
    seconds: NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """The columns of a measurement table. Every array has one element a row."""

    table: pa.Table
    #: Tokens as the processor counts them; -1 where the row could not be measured.
    tokens: Ints
    #: First token of the completion; -1 where the row has none.
    completion: Ints
    answers: Answers
    media: Media

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def measured(self) -> Bools:
        """Which rows have a token count."""
        return self.tokens >= 0

    @classmethod
    def of(cls, table: pa.Table) -> Rows:
        """The columns of a table with the schema of ``measurements.SCHEMA``."""
        table = table.combine_chunks()
        media, media_row = _flatten(table, "media")
        return cls(
            table=table,
            tokens=_ints(table.column("tokens")),
            completion=_ints(table.column("completion")),
            answers=_answers(table),
            media=Media(
                row=media_row,
                start=_ints(media["start"]),
                end=_ints(media["end"]),
                audio=np.array([kind == "audio" for kind in media["kind"].to_pylist()], np.bool_),
                seconds=np.asarray(media["seconds"].fill_null(float("nan")).to_numpy(zero_copy_only=False), np.float64),
            ),
        )

    @cached_property
    def blocks(self) -> dict[str, list[Block]]:
        """The types of each text by its path, block by block as the datasets library reads it."""
        from lint_dataset.loading.gather import blocks_of

        return blocks_of(self.table)

    def index(self, path: str, line: int) -> int:
        """The row of the table that is the example at this line. Raises ``ValueError`` where there is none."""
        import pyarrow.compute as pc

        here = pc.and_(pc.equal(self.table.column("path"), path), pc.equal(self.table.column("line"), line))
        found = pc.index(pc.and_(here, pc.is_valid(self.table.column("hash"))), True).as_py()
        if found < 0:
            raise ValueError(f"no example at {path}:{line}")
        return int(found)

    def faults(self) -> dict[str, Iterable[tuple[int, dict[str, Any]]]]:
        """The faults of all rows by code: (row, data), in the order of the rows."""
        import pyarrow.compute as pc

        faults, row = _flatten(self.table, "faults")
        by_code: dict[str, Iterable[tuple[int, dict[str, Any]]]] = {}
        for code in pc.unique(faults["code"]).to_pylist():
            chosen = pc.equal(faults["code"], code)
            by_code[code] = _Faults(row[chosen.to_numpy(zero_copy_only=False)], faults["data"].filter(chosen))
        return by_code


class _Faults:
    """The faults of one code, read each time they are asked for: a file may have millions, most of them alike."""

    def __init__(self, rows: Ints, data: pa.Array) -> None:
        self._rows = rows
        self._data = data

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        text, read = None, {}
        for row, data in zip(self._rows, self._data, strict=True):
            if text is None or data.as_py() != text:
                text = data.as_py()
                read = json.loads(text)
            yield int(row), dict(read)


def _ints(column: Any) -> Ints:
    return np.asarray(column.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def _flatten(table: pa.Table, name: str) -> tuple[dict[str, pa.Array], Ints]:
    """The fields of a list<struct> column, end to end, and the row of each element."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name)
    array = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    structs = array.flatten()
    fields = {field.name: structs.field(i) for i, field in enumerate(structs.type)}
    return fields, np.asarray(pc.list_parent_indices(array).to_numpy(), np.int64)


def _answers(table: pa.Table) -> Answers:
    """The answers, with what the turns of the assistant say of them."""
    spans, row = _flatten(table, "answers")
    start, end = _ints(spans["start"]), _ints(spans["end"])
    turns, turn_row = _flatten(table, "turns")
    text_end, trained = end.copy(), np.ones(len(end), np.bool_)
    facts = {
        (r, s): (e, t)
        for r, s, e, t in zip(
            turn_row.tolist(),
            turns["start"].to_pylist(),
            turns["end"].to_pylist(),
            turns["trained"].to_pylist(),
            strict=True,
        )
    }
    for i, key in enumerate(zip(row.tolist(), start.tolist(), strict=True)):
        if key in facts:
            text_end[i] = facts[key][0]
            trained[i] = facts[key][1] is not False
    first = np.ones(len(row), np.bool_)
    first[1:] = row[1:] != row[:-1]
    position = np.arange(len(row))
    turn = position - np.maximum.accumulate(np.where(first, position, 0)) if len(row) else position
    last = np.ones(len(row), np.bool_)
    last[:-1] = row[1:] != row[:-1]
    return Answers(row, start, end, text_end, turn.astype(np.int64), last, trained)
