"""What is known of sources: places that rows come from, and formats of files by their endings.

A file in ``places/`` or ``formats/`` registers what it reads when it is imported, and every file there is imported, so
adding a kind touches nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from lint_dataset.sources.example import RawExample
from lint_dataset.sources.stream import COMPRESSED, Input

Claims = Callable[[str], bool]
Read = Callable[[Input], Iterator[RawExample]]


class Place(NamedTuple):
    """Rows that are in no single local file. ``claims`` says whether a path names one, ``read`` gives its rows.

    ``read`` is told whether addresses on the network may be opened.
    """

    claims: Claims
    read: Callable[[str, bool], Iterator[RawExample]]


class Format(NamedTuple):
    """A format of files. ``text`` formats may be compressed as a whole.

    ``wanted`` says from the first bytes whether a file that nobody named, but that lies in a folder, holds rows.
    """

    read: Read
    text: bool
    wanted: Callable[[bytes], bool] | None


_places: list[Place] = []
_formats: dict[str, Format] = {}


def place(claims: Claims) -> Callable[[Callable[[str, bool], Iterator[RawExample]]], None]:
    """Register the decorated function as the reader of the paths that ``claims`` accepts."""
    return lambda read: _places.append(Place(claims, read))


def file_format(
    *suffixes: str, text: bool = False, wanted: Callable[[bytes], bool] | None = None
) -> Callable[[Read], Read]:
    """Register the decorated function as the reader of files with these endings."""

    def register(read: Read) -> Read:
        _formats.update(dict.fromkeys(suffixes, Format(read, text, wanted)))
        return read

    return register


def place_of(path: str) -> Place | None:
    """The place that a path names; None for what can only be a local file."""
    _load()
    return next((known for known in _places if known.claims(path)), None)


def format_of(name: str) -> tuple[Format | None, str | None]:
    """The format of a file by its ending, and what it is compressed with; None for either where it is not known."""
    _load()
    name = name.lower()
    compression = next((kind for ending, kind in COMPRESSED.items() if name.endswith(ending)), None)
    if compression is not None:
        name = name.rpartition(".")[0]
    found = next((known for suffix, known in _formats.items() if name.endswith(suffix)), None)
    return (None if found is not None and compression and not found.text else found), compression


@cache
def _load() -> None:
    from lint_dataset.sources import formats, places

    for package in (formats, places):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
