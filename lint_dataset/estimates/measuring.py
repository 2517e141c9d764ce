"""Measure examples without a processor: three tables of measurements, for fewest, likely and most tokens."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lint_dataset import measurements
from lint_dataset.conversations import AS_IT_IS, Conversation, Reading, convert, parse
from lint_dataset.estimates.coefficients import Coefficients, Floats, load
from lint_dataset.estimates.families import Family
from lint_dataset.estimates.interval import groups, interval
from lint_dataset.estimates.layout import Layout, Place, lay_out
from lint_dataset.estimates.tally import Tally
from lint_dataset.faults import Fault
from lint_dataset.loading.outline import outline
from lint_dataset.measure import about, batches, hash_of
from lint_dataset.media import Library
from lint_dataset.media.rows import clips
from lint_dataset.processors.clips import check
from lint_dataset.processors.speech import speech_faults
from lint_dataset.rows import Ints
from lint_dataset.sources import RawExample, restore

if TYPE_CHECKING:
    import pyarrow as pa

    from lint_dataset.processors import ProcessorUnavailable

_LEVELS = 3


@dataclass(frozen=True)
class Estimates:
    """The same examples measured three times over, each a table of ``measurements.schema()``.

    In ``low`` every text has as few tokens as it may have, in ``high`` as many, in ``likely`` the likely number. The
    real number of a row lies between those of ``low`` and ``high`` in at least 95 of 100 rows. ``uncounted`` is how
    many rows have media whose tokens nobody but the processor knows: they are not measured.
    """

    family: str
    low: pa.Table
    likely: pa.Table
    high: pa.Table
    uncounted: int

    def says(self, problem: ProcessorUnavailable, guessed: bool) -> str:
        """What a reader has to see first: what was estimated and how well, and how to count instead.

        ``guessed``: the family was told from the name of a model that is not in our table.
        """
        name = " (so its name says)" if guessed else ""
        return (
            f"tokens (≈) are estimated as the {self.family} family{name} counts, which is right to within "
            f"{self.width() / 2:.0%} in at least 95 of 100 rows; rules about the chat template are skipped. For exact "
            f"counts {problem.remedy}"
        )

    def measured(self) -> bool:
        """Whether any row was estimated."""
        return bool(self.likely.column("tokens").null_count < self.likely.num_rows)

    def width(self) -> float:
        """How wide the intervals are, as a share of the likely number: the mean over the measured rows."""
        import pyarrow.compute as pc

        counts = [
            np.asarray(pc.drop_null(table.column("tokens")).to_numpy(), np.float64)
            for table in (self.low, self.likely, self.high)
        ]
        return float(((counts[2] - counts[0]) / np.maximum(counts[1], 1)).mean()) if len(counts[1]) else 0.0


class _Row(NamedTuple):
    """One example on its way: its family, what it is among others, what is wrong with it.

    ``conversation`` and ``layout`` are None where it has none; the tokens of ``uncounted`` media are not known.
    """

    example: RawExample
    family: str | None
    about: dict[str, str | None]
    faults: list[Fault]
    conversation: Conversation | None = None
    layout: Layout | None = None
    uncounted: bool = False


def estimate(
    examples: Iterable[RawExample],
    family: Family,
    reading: Reading = AS_IT_IS,
    *,
    decode: bool = False,
    fetch: bool = False,
) -> Estimates:
    """Estimate examples, in order. Bad input raises nothing; what only a template would find is not found.

    ``decode`` and ``fetch`` say how clips are looked up, as for ``measure.measure``.
    """
    import pyarrow as pa

    coefficients = load(family.tokenizer)
    tally = Tally(coefficients)
    tables: list[list[Any]] = [[] for _ in range(_LEVELS)]
    uncounted = 0
    library = Library(decode=decode, fetch=fetch)
    for batch in batches(examples):
        read = [_read(example, reading) for example in batch]
        library.prepare(clips((row.conversation, os.path.dirname(row.example.path)) for row in read))
        rows = [_lay_out(row, family, library) for row in read]
        uncounted += sum(row.uncounted for row in rows)
        places = _places([row.layout for row in rows if row.layout is not None], tally, coefficients)
        for level in range(_LEVELS):
            own = iter(places)
            measured = [_measured(row, next(own)[level] if row.layout is not None else None) for row in rows]
            tables[level].append(pa.Table.from_pylist(measured, measurements.schema()))
    empty = measurements.schema().empty_table()
    low, likely, high = (pa.concat_tables(parts).combine_chunks() if parts else empty for parts in tables)
    return Estimates(family.tokenizer, low, likely, high, uncounted)


def _read(example: RawExample, reading: Reading) -> _Row:
    if example.raw is None:
        return _Row(example, None, about(None, None), [])
    row, faults = parse(example.raw)
    if row is None:
        return _Row(example, None, about(None, None), faults)
    seen = outline(row)
    if example.blobs:
        row = restore(row, example.blobs)
    conversation, found = convert(row, reading)
    kind = None if conversation is None else conversation.family
    return _Row(example, kind, about(seen, conversation), [*faults, *found], conversation)


def _lay_out(row: _Row, family: Family, library: Library) -> _Row:
    if row.conversation is None:
        return row
    folder = os.path.dirname(row.example.path)
    layout = lay_out(_longest(row.conversation), family, folder, library)
    if layout is None:
        # What is wrong with its clips whoever hears them is known all the same.
        return row._replace(faults=[*row.faults, *check(row.conversation, folder, library)], uncounted=True)
    spoken = speech_faults(row.conversation, folder, library)
    return row._replace(faults=[*row.faults, *layout.faults, *spoken], layout=layout)


def _longest(conversation: Conversation) -> Conversation:
    """The one of a pair to prefer from that has the longer answer: both are padded to its length."""

    def characters(one: Conversation) -> int:
        return len(one.text or "") + sum(len(message.text) for message in one.messages)

    return max(conversation.alternatives, key=characters)


def _places(layouts: Sequence[Layout], tally: Tally, coefficients: Coefficients) -> list[list[Ints]]:
    """For each layout and each level, the tokens before each of its texts, and behind the last, without known ones."""
    texts = list(chain.from_iterable(layout.texts for layout in layouts))
    sizes = np.array([len(layout.texts) for layout in layouts], np.int64)
    tokens = tally.tally(texts)
    # One row of sums more than texts a layout: what stands before each text, and all of them.
    ends = np.cumsum(sizes + 1)
    sums: Floats = np.zeros((int(ends[-1]) if len(ends) else 0, tokens.shape[1]))
    layout_of = np.repeat(np.arange(len(layouts)), sizes + 1)
    first = np.zeros(len(sums), np.bool_)
    first[ends - (sizes + 1)] = True
    sums[~first] = tokens
    running = np.cumsum(sums, axis=0)
    sums = np.maximum(running - running[ends - (sizes + 1)][layout_of], 0)
    group = groups(sums[ends - 1])[layout_of]
    found = interval(sums, coefficients, group)
    low, likely, high = np.floor(found.low), np.round(found.likely), np.ceil(found.high)
    slack = np.array([layout.slack for layout in layouts], np.int64)[layout_of]
    levels = np.stack([low, likely + slack // 2, high + slack]).astype(np.int64)
    # The end of a longer text may be less sure, never earlier.
    return [
        [np.maximum.accumulate(level[end - size - 1 : end]) for level in levels]
        for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)
    ]


def _measured(row: _Row, before: Ints | None) -> dict[str, Any]:
    """The measurement of one example at one level."""
    example, layout = row.example, row.layout
    measured: dict[str, Any] = {
        "path": example.path,
        "line": example.line,
        "block": example.block,
        "hash": hash_of(example.raw),
        "family": row.family,
        "tokens": None,
        "turns": [],
        "answers": [],
        "completion": None,
        "media": [],
        **row.about,
        "faults": measurements.pack([*example.faults, *row.faults]),
    }
    if layout is None or before is None:
        return measured
    tokens = before.tolist()

    def at(place: Place) -> int:
        return int(tokens[place[0]]) + place[1]

    turns = [
        {"role": role, "start": at(start), "end": at(end), "marker_end": at(marker), "trained": trained}
        for role, start, end, marker, trained in layout.turns
    ]
    measured["tokens"] = at(layout.here())
    measured["turns"] = turns
    measured["answers"] = [{"start": turns[i]["start"], "end": turns[i]["marker_end"]} for i in layout.answers]
    if layout.completion is not None:
        measured["completion"] = turns[layout.completion]["start"]
    measured["media"] = [
        {"kind": kind, "start": at(place), "end": at(place) + soft, "seconds": seconds}
        for kind, place, seconds, soft in layout.media
    ]
    return measured
