"""Media in columns of their own, with placeholders in the text (``<audio>``): LLaMA-Factory's, ms-swift's, LLaVA's way.

The clips and images are put where their placeholders stand, as parts of their messages: that is what the trainers that
read such columns make of them. Files without a placeholder go in front of the first user message, where ms-swift and
TRL put them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from lint_dataset.conversations.building import item_of
from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.shape import Message, Part, PartKind
from lint_dataset.faults import Fault

COLUMNS: dict[PartKind, tuple[str, ...]] = {
    "audio": ("audios", "audio"),
    "image": ("images", "image"),
    "video": ("videos", "video"),
}


def place_media(messages: Iterable[Message], row: dict[str, Any]) -> tuple[tuple[Message, ...], list[Fault]]:
    """The messages with the media of the row's columns in them, and the faults that a reader of columns would meet."""
    placed = tuple(messages)
    faults: list[Fault] = []
    for kind, columns in COLUMNS.items():
        column = next((name for name in columns if row.get(name) not in (None, [], "")), None)
        if column is None:
            faults += _no_files(placed, kind, next((name for name in columns if name in row), columns[0]))
            continue
        files = row[column] if isinstance(row[column], list) else [row[column]]
        if column.endswith("s") and not isinstance(row[column], list):
            faults.append(Fault("S003", {"field": column, "got": type_name(row[column]), "expected": "array"}))
        parts = [part for message in placed for part in message.parts if part.kind == kind]
        bare = sum(part.source is None for part in parts)
        data = {"column": column, "kind": kind, "count": len(files)}
        if bare:
            if bare != len(files):
                faults.append(Fault("S013", {**data, "placeholders": bare, "as": "parts"}))
            placed = _fill(placed, kind, iter(files))
        elif not parts:
            places = sum(part.text.count(f"<{kind}>") for message in placed for part in message.parts)
            faults.append(Fault("S006", {**data, "placeholders": places}))
            if places != len(files):
                faults.append(Fault("S013", {**data, "placeholders": places, "as": "text"}))
            placed = _put(placed, kind, files, places)
    return placed, faults


def _no_files(messages: tuple[Message, ...], kind: PartKind, column: str) -> list[Fault]:
    """Placeholders in the text of a row without files: what they are is seen beside the other rows."""
    parts = [part for message in messages for part in message.parts]
    places = sum(part.text.count(f"<{kind}>") for part in parts)
    if not places or any(part.kind == kind for part in parts):
        return []
    return [Fault("S013", {"column": column, "kind": kind, "count": 0, "placeholders": places, "as": "text"})]


def split(parts: Iterable[Part], kind: PartKind, placeholder: str, files: Iterator[Any]) -> tuple[Part, ...]:
    """Parts with a medium in the place of each placeholder in their text, as long as there are files."""
    result: list[Part] = []
    for part in parts:
        if placeholder not in part.text:
            result.append(part)
            continue
        first, *pieces = part.text.split(placeholder)
        said = first
        for piece in pieces:
            source = next(files, files)  # the iterator itself where it has no more: a file may be None
            if source is files:
                said += placeholder + piece
                continue
            if said:
                result.append(part._replace(text=said))
            result.append(Part(kind, "", source, kind))
            said = piece
        if said:
            result.append(part._replace(text=said))
    return tuple(result)


def with_parts(message: Message, parts: tuple[Part, ...]) -> Message:
    """The message with other parts; its template has them as a list, and its other fields as they were."""
    if parts == message.parts:
        return message
    return replace(message, parts=parts, template={**message.template, "content": [item_of(part) for part in parts]})


def _fill(messages: tuple[Message, ...], kind: PartKind, files: Iterator[Any]) -> tuple[Message, ...]:
    """The messages with a file for each part that names none. What the template gets is as it was."""

    def filled(part: Part) -> Part:
        return part._replace(source=next(files, None)) if part.kind == kind and part.source is None else part

    return tuple(replace(message, parts=tuple(map(filled, message.parts))) for message in messages)


def _put(messages: tuple[Message, ...], kind: PartKind, files: list[Any], places: int) -> tuple[Message, ...]:
    first = next((i for i, message in enumerate(messages) if message.role == "user"), 0)
    queue = iter(files[:places])
    spare = tuple(Part(kind, "", file, kind) for file in files[places:])
    placed = []
    for index, message in enumerate(messages):
        parts = split(message.parts, kind, f"<{kind}>", queue)
        placed.append(with_parts(message, (*spare, *parts) if index == first else parts))
    return tuple(placed)
