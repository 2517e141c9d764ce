"""Measure: rows of a dataset in, what the target model's processor says of them out, an Arrow batch at a time.

The measure of a batch depends on nothing but the batch and the processor, so it runs the same in one process, in a
pool or on a cluster. Around it, :func:`measure` asks the cache first and loads a processor only for what is new.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lint_dataset import measurements
from lint_dataset.cache import Cache, Entry, key_of
from lint_dataset.conversations import AS_IT_IS, Conversation, Reading, convert, parse
from lint_dataset.conversations.identity import answers_of, content_of
from lint_dataset.faults import Fault
from lint_dataset.loading.outline import outline
from lint_dataset.media import Library
from lint_dataset.media.rows import clips, identity_of
from lint_dataset.processors import Location, load
from lint_dataset.sources import RawExample, restore

if TYPE_CHECKING:
    import pyarrow as pa

    from lint_dataset.processors.loading import Processor
    from lint_dataset.processors.rendering import Rendered

#: A batch ends at either: enough rows to keep the tokenizer's threads busy, little enough to hold in memory.
BATCH_ROWS = 1000
BATCH_BYTES = 16_000_000

#: The columns of a measurement that come from the example itself, not from measuring it.
_GIVEN = ("path", "line", "block", "hash")
#: The measurement of a row that is about a file as a whole.
_NOTHING = json.dumps({"turns": [], "answers": [], "media": [], "faults": []})
#: What decides a measurement beside the processor: the hash of the row, and the folder that its media are in.
_Place = tuple[str | None, str]


class _Row(NamedTuple):
    """One row on its way: its family, outline and faults, its conversation and its renders where it has them.

    A preference row is rendered with either answer.
    """

    family: str | None
    outline: str | None
    faults: list[Fault]
    conversation: Conversation | None
    rendered: tuple[Rendered, ...] = ()


def measure(
    examples: Iterable[RawExample],
    location: Location | None,
    cache: Cache | None = None,
    progress: Callable[[int], None] | None = None,
    reading: Reading = AS_IT_IS,
    *,
    decode: bool = False,
    fetch: bool = False,
) -> pa.Table:
    """Measure examples, in order, as a table of ``measurements.SCHEMA``.

    Of clips only the headers are read unless ``decode`` says so, and no address is opened unless ``fetch`` does.

    The processor at ``location`` is loaded when the first row comes that the cache does not know; without a location
    nothing is counted and the rows are only read. ``progress`` is told how many examples were measured since it was
    last told, ``reading`` says how to read rows that do not tell. Raises ``ProcessorUnavailable`` where the processor
    cannot be loaded.
    """
    import pyarrow as pa

    fingerprint = location.fingerprint if location is not None else _nothing()
    if reading != AS_IT_IS:
        fingerprint += f" read as {reading!r}"
    loaded: Processor | None = None

    def processor() -> Processor | None:
        nonlocal loaded
        if loaded is None and location is not None:
            loaded = load(location)
        return loaded

    tables = []
    library = Library(cache, decode=decode, fetch=fetch)
    for batch in batches(examples):
        tables.append(_measure_cached(batch, fingerprint, processor, cache, reading, library))
        if progress is not None:
            progress(len(batch))
    # In one piece: whoever asks for columns would otherwise make a copy of his own.
    return pa.concat_tables(tables).combine_chunks() if tables else measurements.schema().empty_table()


def measure_batch(
    batch: pa.RecordBatch, processor: Processor | None, reading: Reading = AS_IT_IS, library: Library | None = None
) -> pa.RecordBatch:
    """Measure one batch: columns ``path``, ``line``, ``raw``, ``blobs`` and ``faults`` in, ``measurements.SCHEMA`` out.

    The faults of a row that were known before come first. A row whose ``raw`` is null is about a file as a whole and
    passes through. Without a processor nothing is counted. ``library`` is where clips are looked up.
    """
    import pyarrow as pa

    library = library or Library()

    paths, lines = batch.column("path").to_pylist(), batch.column("line").to_pylist()
    blobs = [dict(items) for items in batch.column("blobs").to_pylist()]
    raws, known = batch.column("raw").to_pylist(), batch.column("faults").to_pylist()
    read = [_read(raw, beside, reading) for raw, beside in zip(raws, blobs, strict=True)]
    folders = [os.path.dirname(path) for path in paths]
    library.prepare(clips(zip((row.conversation for row in read), folders, strict=True)))
    rows = [_render(row, processor, folder, library) for row, folder in zip(read, folders, strict=True)]
    counts = _count(rows, processor)
    measured = [
        {
            "path": path,
            "line": line,
            "hash": hash_of(raw),
            **counted,
            **about(row.outline, row.conversation),
            "faults": [*(before or []), *measurements.pack(row.faults)],
        }
        for path, line, raw, before, row, counted in zip(paths, lines, raws, known, rows, counts, strict=True)
    ]
    return pa.RecordBatch.from_pylist(measured, schema=measurements.schema())


def hash_of(raw: bytes | None) -> str | None:
    """The name of a row: a hash of its bytes. None for a row that is about a file as a whole."""
    return None if raw is None else hashlib.sha256(raw).hexdigest()


def about(seen: str | None, conversation: Conversation | None) -> dict[str, str | None]:
    """The columns ``outline``, ``content`` and ``said`` of a row: what it is among the others of its file."""
    if conversation is None:
        return {"outline": seen, "content": None, "said": None}
    return {"outline": seen, "content": content_of(conversation), "said": answers_of(conversation)}


def batches(examples: Iterable[RawExample]) -> Iterator[list[RawExample]]:
    """Examples in lists that fit in memory together."""
    batch: list[RawExample] = []
    size = 0
    for example in examples:
        batch.append(example)
        size += len(example.raw or b"") + sum(map(len, example.blobs.values()))
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _measure_cached(
    batch: Sequence[RawExample],
    fingerprint: str,
    processor: Callable[[], Processor | None],
    cache: Cache | None,
    reading: Reading,
    library: Library,
) -> pa.Table:
    """Measure what is new of a batch, remember it, and put all of it together in order."""
    # Equal rows of one folder are measured once: whatever media they name are the same files.
    places = [(hash_of(example.raw), os.path.dirname(example.path)) for example in batch]
    entries = _entries(places, fingerprint, cache)
    # What a row without media is needs no second look; of one with media something is known while they are the same.
    known = {place: entry.measurement for place, own in entries.items() for entry in own if not entry.media}
    media = _media_of(batch, places, known, reading, library) if cache is not None else {}
    known |= {
        place: entry.measurement
        for place, own in entries.items()
        for entry in own
        if entry.media and entry.media == media.get(place)
    }
    new = {
        place: example
        for place, example in zip(reversed(places), reversed(batch), strict=True)
        if place not in known and example.raw is not None
    }
    if new:
        rows = measure_batch(_arrow(new.values()), processor(), reading, library)
        measured = rows.drop_columns(list(_GIVEN)).to_pylist()
        for place, row in zip(new, measured, strict=True):
            known[place] = json.dumps(row, separators=(",", ":"))
        if cache is not None:
            cache.put((key_of(place[0] or "", fingerprint), Entry(media[place], known[place])) for place in new)
    return _table(batch, places, known)


def _entries(places: Sequence[_Place], fingerprint: str, cache: Cache | None) -> dict[_Place, list[Entry]]:
    """What the cache holds of each row."""
    keys = {place: key_of(place[0], fingerprint) for place in places if place[0] is not None}
    found = cache.get(keys.values()) if cache is not None else {}
    return {place: found[key] for place, key in keys.items() if key in found}


def _media_of(
    batch: Sequence[RawExample],
    places: Sequence[_Place],
    known: Collection[_Place],
    reading: Reading,
    library: Library,
) -> dict[_Place, str]:
    """What the media of each row that is not known are at this moment, as a hash; empty for a row without."""
    both = zip(places, batch, strict=True)
    rows = {place: example for place, example in both if example.raw is not None and place not in known}
    read = {place: _read(example.raw, example.blobs, reading).conversation for place, example in rows.items()}
    library.prepare(clips((conversation, place[1]) for place, conversation in read.items()))
    return {place: identity_of(conversation, place[1], library) for place, conversation in read.items()}


def _arrow(examples: Iterable[RawExample]) -> pa.RecordBatch:
    """Examples as ``measure_batch`` takes them. The faults of the files stay outside: they are no part of the row."""
    import pyarrow as pa

    rows = list(examples)
    return pa.RecordBatch.from_arrays(
        [
            pa.array([row.path for row in rows], pa.string()),
            pa.array([row.line for row in rows], pa.int64()),
            pa.array([row.raw for row in rows], pa.large_binary()),
            pa.array([list(row.blobs.items()) for row in rows], pa.map_(pa.string(), pa.large_binary())),
            pa.array([[] for _ in rows], measurements.schema().field("faults").type),
        ],
        names=["path", "line", "raw", "blobs", "faults"],
    )


def _table(batch: Sequence[RawExample], places: Sequence[_Place], known: dict[_Place, str]) -> pa.Table:
    """The rows of a batch as a table, from their measurements as JSON."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    schema = measurements.schema()
    text = "\n".join(known.get(place, _NOTHING) for place in places).encode()
    fields = pa.schema([field for field in schema if field.name not in _GIVEN])
    table = arrow_json.read_json(
        pa.BufferReader(text),
        read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=arrow_json.ParseOptions(explicit_schema=fields, unexpected_field_behavior="error"),
    )
    columns = {name: table.column(name) for name in table.column_names}
    columns["path"] = pa.array([example.path for example in batch], pa.string())
    columns["line"] = pa.array([example.line for example in batch], pa.int64())
    columns["block"] = pa.array([example.block for example in batch], pa.int32())
    columns["hash"] = pa.array([digest for digest, _ in places], pa.string())
    if any(example.faults for example in batch):
        own = zip(batch, columns["faults"].to_pylist(), strict=True)
        faults = [measurements.pack(example.faults) + found for example, found in own]
        columns["faults"] = pa.array(faults, schema.field("faults").type)
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def _read(raw: bytes | None, blobs: Mapping[str, bytes], reading: Reading) -> _Row:
    """Read one row."""
    if raw is None:
        return _Row(None, None, [], None)
    row, faults = parse(raw)
    if row is None:
        return _Row(None, None, faults, None)
    seen = outline(row)
    if blobs:
        row = restore(row, blobs)
    conversation, more = convert(row, reading)
    return _Row(None if conversation is None else conversation.family, seen, [*faults, *more], conversation)


def _render(row: _Row, processor: Processor | None, folder: str, library: Library) -> _Row:
    """Render a row, and each alternative of it. Without a processor only its clips are looked up."""
    if row.conversation is None:
        return row
    faults, renders = list(row.faults), []
    for alternative in row.conversation.alternatives:
        if processor is None:
            from lint_dataset.processors.clips import check

            faults += [fault for fault in check(alternative, folder, library) if fault not in faults]
            continue
        from lint_dataset.processors.rendering import render

        rendered, more = render(alternative, processor, folder, library)
        faults += [fault for fault in more if fault not in faults]
        if rendered is None:
            return row._replace(faults=faults)
        renders.append(rendered)
    return row._replace(faults=faults, rendered=tuple(renders))


def _count(rows: Sequence[_Row], processor: Processor | None) -> list[dict[str, Any]]:
    """The counts and spans of rows, tokenized together. Of two answers to prefer from, the longer one is counted.

    That is the length that trainers pad both of them to.
    """
    counts: list[dict[str, Any]] = [
        {"family": row.family, "tokens": None, "turns": [], "answers": [], "completion": None, "media": []}
        for row in rows
    ]
    if processor is None:
        return counts
    from lint_dataset.processors.counting import count

    for special in (False, True):
        chosen = [
            (i, rendered)
            for i, row in enumerate(rows)
            for rendered in row.rendered
            if rendered.add_special_tokens == special
        ]
        encodings = processor.encode([rendered.text for _, rendered in chosen], special)
        asked = {n: rendered.prompt for n, (_, rendered) in enumerate(chosen) if rendered.prompt is not None}
        prompts = dict(zip(asked, processor.encode(list(asked.values()), special), strict=True))
        for number, ((i, rendered), encoding) in enumerate(zip(chosen, encodings, strict=True)):
            measured, faults = count(rendered, encoding, processor, prompts.get(number))
            if counts[i]["tokens"] is None or measured["tokens"] > counts[i]["tokens"]:
                counts[i].update(measured)
            rows[i].faults.extend(fault for fault in faults if fault not in rows[i].faults)
    return counts


def _nothing() -> str:
    """What stands for the processor where none is used."""
    from lint_dataset.processors.fingerprint import libraries

    return libraries()
