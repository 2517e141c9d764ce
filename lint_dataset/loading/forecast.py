"""What the datasets library does with a JSON text whose rows have these types, block by block.

Arrow wants one type for each place. The first block decides: what the following ones hold is cast to its types. Before
4.7 a place with two types in one block ends the loading, and objects with different keys get each other's keys as
null. From 4.7 on such a place is kept as JSON, value by value, if the first block already shows it; in a later block
its values become JSON text and are then cast to the first block's type, which turns each string there into quoted JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from lint_dataset.loading.places import Block, Place, Seen, merged

Outcome = Literal["loads", "padded", "changed", "fails"]
#: From good to bad. ``padded``: objects have null keys that nobody wrote; ``changed``: values are others than written.
OUTCOMES: tuple[Outcome, ...] = ("loads", "padded", "changed", "fails")
What = Literal["mixed", "later", "late", "padded", "dates"]
#: Below these columns the keys of objects reach the model: as arguments, as parts of a content, as tools.
_READ = frozenset(("messages", "conversations", "prompt", "completion", "chosen", "rejected", "tools"))
#: What a cast of a whole block does not refuse: the type of the first block, and that of the later one.
_CAST = frozenset((("string", "number"), ("string", "boolean"), ("number", "boolean"), ("boolean", "number")))


class Trouble(NamedTuple):
    """One place at which a file will not load as it was written, and the line that shows it.

    ``mixed``: two types in the first block. ``later``: another type in a later block. ``late``: nothing but null, an
    empty list or no key in the first block, filled later. ``padded``: objects with different keys. ``dates``: all texts
    look like dates. ``old`` and ``new`` say what comes of it before 4.7 and from then on; ``data`` has the numbers.
    """

    what: What
    place: Place
    line: int
    old: Outcome
    new: Outcome
    data: dict[str, Any]


def forecast(blocks: Sequence[Block]) -> list[Trouble]:
    """Every place of a file at which something befalls it, in the order of the lines. There is at least one block."""
    first, whole = blocks[0], merged(blocks)
    kept = frozenset(_kept_as_json(first))
    found = [*_mixed(first, whole, kept), *_padded(whole, kept), *_dates(first, kept)]
    seen: set[Place] = set()
    for block in blocks[1:]:
        for trouble in (*_late(first, block, kept), *_later(first, block, kept)):
            if trouble.place not in seen:
                seen.add(trouble.place)
                found.append(trouble)
    return sorted(found, key=lambda trouble: (trouble.line, str(trouble.place)))


def outcomes(blocks: Sequence[Block]) -> tuple[Outcome, Outcome]:
    """What becomes of the file as a whole, before 4.7 and from then on."""
    troubles, whole = forecast(blocks), merged(blocks)
    old, new = [trouble.old for trouble in troubles], [trouble.new for trouble in troubles]
    kept = frozenset(_kept_as_json(blocks[0]))
    for place, sets in whole.keys.items():
        if len(sets) > 1:  # A key that some rows lack is null in them, which harms nobody at the top.
            old.append("padded")
            new += ["padded"] * (not _within(place, kept))
    return max(old, key=OUTCOMES.index, default="loads"), max(new, key=OUTCOMES.index, default="loads")


def _kept_as_json(block: Block) -> Iterator[Place]:
    """The places that 4.7 and newer take as JSON from the first block on."""
    for place in block.types:
        sets = block.keys.get(place, {})
        if len(block.classes(place)) > 1 or (place and (len(sets) > 1 or frozenset() in sets)):
            yield place


def _within(place: Place, kept: frozenset[Place]) -> bool:
    return any(place[:end] in kept for end in range(len(place) + 1))


def _mixed(first: Block, whole: Block, kept: frozenset[Place]) -> Iterator[Trouble]:
    for place in first.types:
        if len(first.classes(place)) < 2:
            continue
        classes = whole.classes(place)
        data: dict[str, Any] = {"types": {name: seen._asdict() for name, seen in classes.items()}}
        # Text that is itself JSON is taken for the value that it spells, unless all around it is kept as JSON.
        parsed = whole.types[place].get("j") if not _within(place[:-1], kept) else None
        if parsed is not None:
            data["parsed"] = parsed._asdict()
        rarest = min(classes.values(), key=lambda seen: (seen.rows, -seen.line))
        yield Trouble("mixed", place, rarest.line, "fails", "changed" if parsed else "loads", data)


def _padded(whole: Block, kept: frozenset[Place]) -> Iterator[Trouble]:
    """Only the outermost objects: what is inside of them differs too."""
    told: set[Place] = set()
    for place, sets in sorted(whole.keys.items(), key=lambda item: len(item[0])):
        # Templates pass over null keys of a message itself.
        deep = len(place) > 2 if place[1:2] == (None,) and place[0] != "tools" else len(place) > 1
        if len(sets) < 2 or not deep or place[0] not in _READ or _within(place, frozenset(told)):
            continue
        told.add(place)
        order = sorted(sets.values(), key=lambda seen: seen.line)
        data = {"sets": len(sets), "first": order[0].line}
        yield Trouble("padded", place, order[1].line, "padded", "loads" if _within(place, kept) else "padded", data)


def _late(first: Block, block: Block, kept: frozenset[Place]) -> Iterator[Trouble]:
    for place, letters in block.types.items():
        found = block.classes(place)
        # Only below what the first block has: what is below something of another type is told there.
        if not found or first.letters(place) or not _holds(first, place):
            continue
        absent = place not in first.types and place[-1] is not None
        name, seen = min(found.items(), key=lambda item: item[1].line)
        data = {"absent": absent, "type": name, "rows": sum(seen.rows for seen in letters.values())}
        yield Trouble("late", place, seen.line, "fails", "loads" if _within(place, kept) else "fails", data)


def _holds(first: Block, place: Place) -> bool:
    """Whether the first block has an object, or a list, that could have held something at this place."""
    return bool(place) and ("a" if place[-1] is None else "o") in first.letters(place[:-1])


def _dates(first: Block, kept: frozenset[Place]) -> Iterator[Trouble]:
    for place in first.types:
        if first.letters(place) == {"t"} and not _within(place, kept):
            seen = first.types[place]["t"]
            yield Trouble("dates", place, seen.line, "changed", "changed", {"rows": seen.rows})


def _later(first: Block, block: Block, kept: frozenset[Place]) -> Iterator[Trouble]:
    for place in block.types:
        before, now = first.classes(place), block.classes(place)
        if len(before) != 1 or not now:
            continue
        (name,) = before
        others = {other: seen for other, seen in now.items() if other != name}
        if others:
            new, quoted = _cast(name, now)
            old: Outcome = "fails" if len(now) > 1 else new
            other, seen = min(others.items(), key=lambda item: item[1].line)
        else:
            found = _finer(first.letters(place), block.types[place])
            if found is None:
                continue
            old = new = found[0]
            quoted, (other, seen) = False, found[1:]
        data = {
            "before": name,
            "type": other,
            "rows": seen.rows,
            "block": {"first": block.first, "last": block.last, "rows": block.rows},
            "quoted": quoted,
        }
        yield Trouble("later", place, seen.line, old, "loads" if _within(place, kept) else new, data)


def _cast(before: str, now: dict[str, Seen]) -> tuple[Outcome, bool]:
    """What becomes of the types of a later block where the first has one, from 4.7 on; whether texts are quoted."""
    if len(now) == 1:
        (other,) = now
        return ("changed" if (before, other) in _CAST else "fails"), False
    if before == "string":
        return "changed", True
    return ("changed" if before == "boolean" and set(now) == {"number", "boolean"} else "fails"), False


def _finer(before: set[str], now: dict[str, Seen]) -> tuple[Outcome, str, Seen] | None:
    """Where the type is the same for JSON and not for Arrow: whole numbers, and text that is a date."""
    if before == {"i"} and "f" in now:
        return "fails", "number with a fraction", now["f"]
    texts = {letter: seen for letter, seen in now.items() if letter in "sj"}
    if before == {"t"} and texts:
        return "fails", "text that is no date", min(texts.values(), key=lambda seen: seen.line)
    if before & {"s", "j"} and "t" in now and not texts:
        return "changed", "text that is a date", now["t"]
    return None
