"""What stands at each place of the rows of a block, gathered from their outlines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from lint_dataset.loading.outline import KINDS

#: A place in a row: keys of objects, and None for the items of a list.
Place = tuple[str | None, ...]
Keys = frozenset[str]


class Seen(NamedTuple):
    """How many rows have something, and the line of the first that does."""

    rows: int
    line: int

    def and_(self, other: Seen | None) -> Seen:
        """Both together."""
        return self if other is None else Seen(self.rows + other.rows, min(self.line, other.line))


@dataclass
class Block:
    """The rows of one block of a file: what types and which keys stand at each place."""

    first: int = 0
    last: int = 0
    rows: int = 0
    #: By place, the letters of ``outline.KINDS`` that stand there.
    types: dict[Place, dict[str, Seen]] = field(default_factory=dict)
    #: By place of an object, the sets of keys that it has.
    keys: dict[Place, dict[Keys, Seen]] = field(default_factory=dict)

    def add(self, outline: str, rows: int, first: int, last: int) -> None:
        """Add rows with one outline, of which the first and the last are at these lines."""
        self.first = min(self.first or first, first)
        self.last = max(self.last, last)
        self.rows += rows
        seen = Seen(rows, first)
        types, keys = _facts(outline)
        for place, letter in types:
            at = self.types.setdefault(place, {})
            at[letter] = seen.and_(at.get(letter))
        for place, names in keys:
            having = self.keys.setdefault(place, {})
            having[names] = seen.and_(having.get(names))

    def classes(self, place: Place) -> dict[str, Seen]:
        """The types at a place as JSON calls them, but null: strings of every kind are one."""
        found: dict[str, Seen] = {}
        for letter, seen in self.types.get(place, {}).items():
            if letter != "n":
                found[KINDS[letter]] = seen.and_(found.get(KINDS[letter]))
        return found

    def letters(self, place: Place) -> set[str]:
        """The letters at a place, but null."""
        return set(self.types.get(place, ())) - {"n"}


def merged(blocks: Iterable[Block]) -> Block:
    """All blocks as one."""
    whole = Block()
    for block in blocks:
        whole.first = min(whole.first or block.first, block.first)
        whole.last = max(whole.last, block.last)
        whole.rows += block.rows
        for own, others in ((whole.types, block.types), (whole.keys, block.keys)):
            _merge(own, others)
    return whole


def shown(place: Place) -> str:
    """A place as messages write it: ``messages[].content``."""
    return "".join("[]" if step is None else f".{step}" for step in place).removeprefix(".")


def _merge(own: dict[Any, Any], others: dict[Any, Any]) -> None:
    for place, found in others.items():
        at = own.setdefault(place, {})
        for what, seen in found.items():
            at[what] = seen.and_(at.get(what))


@lru_cache(1024)
def _facts(outline: str) -> tuple[frozenset[tuple[Place, str]], frozenset[tuple[Place, Keys]]]:
    types: set[tuple[Place, str]] = set()
    keys: set[tuple[Place, Keys]] = set()
    for place, value in _nodes((), json.loads(outline)):
        if isinstance(value, dict):
            types.add((place, "o"))
            keys.add((place, frozenset(value)))
        else:
            types.add((place, "a" if isinstance(value, list) else value))
    return frozenset(types), frozenset(keys)


def _nodes(place: Place, value: Any) -> Iterator[tuple[Place, Any]]:
    yield place, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _nodes((*place, key), item)
    elif isinstance(value, list):
        for item in value:
            yield from _nodes((*place, None), item)
