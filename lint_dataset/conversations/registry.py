"""The schema families, and which of them a row belongs to.

A family registers itself when its module in ``families/`` is imported, and every module there is imported by
:func:`families`, so adding one touches nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from lint_dataset.conversations.columns import prompt_faults
from lint_dataset.conversations.elsewhere import looks_like
from lint_dataset.conversations.faults import collapse, key_names
from lint_dataset.conversations.padding import padding_faults
from lint_dataset.conversations.reading import AS_IT_IS, Reading
from lint_dataset.conversations.shape import Conversation
from lint_dataset.faults import Fault

Row = dict[str, Any]
Converted = tuple[Conversation | None, list[Fault]]


def always(_: Row) -> bool:
    """No more than the keys tells a family."""
    return True


class Family(NamedTuple):
    """One way to write a conversation down.

    ``keys`` are the columns a row must have, each group a choice: ``(("instruction",), ("output", "response"))``, and
    ``where`` looks inside them. Where a row has the keys of several families, the one with the lowest ``order`` is
    what trainers read; ``also`` are columns of other families that belong to this one. ``like`` is the family whose
    rows it may stand among, in one file. ``read_by`` names the trainers that read it as it is, by their names in a
    plan (hf: code of one's own), and other tools; None where all do. ``wrongly`` says what becomes of the rows in a
    trainer that takes their column for chat messages, where that is so.
    """

    name: str
    keys: tuple[tuple[str, ...], ...]
    order: int
    convert: Callable[[Row], Converted]
    where: Callable[[Row], bool] = always
    also: tuple[str, ...] = ()
    like: str | None = None
    read_by: tuple[str, ...] | None = None
    wrongly: str | None = None

    def matches(self, row: Row, present: set[str]) -> bool:
        """Whether a row, of whose keys these are present, belongs to the family."""
        return not self.missing(present) and self.where(row)

    def missing(self, present: set[str]) -> list[str]:
        """The keys that a row with these keys lacks; the first of a choice stands for it."""
        return [group[0] for group in self.keys if not any(key in present for key in group)]

    def explains(self, other: Family, present: set[str]) -> bool:
        """Whether a row of this family has the keys of the other one only because it is of this one."""
        own = {*self.also, *(key for group in self.keys for key in group)}
        return all(own.intersection(group) & present for group in other.keys)


_registry: dict[str, Family] = {}


def family(name: str, *, keys: tuple[tuple[str, ...], ...], order: int, **facts: Any) -> Callable[..., Any]:
    """Register the decorated function (row -> conversation and faults) as the family ``name``.

    ``facts`` are the other fields of :class:`Family`.
    """

    def register(convert: Callable[[Row], Converted]) -> Callable[[Row], Converted]:
        if name in _registry:
            raise ValueError(f"two families are named {name}")
        _registry[name] = Family(name, keys, order, convert, **facts)
        return convert

    return register


@cache
def families() -> tuple[Family, ...]:
    """Every family, in the order in which trainers look for them."""
    from lint_dataset.conversations import families as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return tuple(sorted(_registry.values(), key=lambda known: known.order))


def named(name: str) -> Family | None:
    """The family of this name, if there is one."""
    return next((known for known in families() if known.name == name), None)


def convert(row: Any, reading: Reading = AS_IT_IS) -> Converted:
    """Bring one parsed line to the one shape; None where the row holds no conversation that could be rendered.

    ``reading`` is how the rows are to be read where that is not left to them. The faults name what is wrong. Anything
    but an object gives nothing: parsing has already said what it is.
    """
    if not isinstance(row, dict):
        return None, []
    row, faults = reading.rename(row)
    if faults:
        return None, faults
    # A column that another row needed is null here: exports from tables fill every column of every row.
    present = {key for key, value in row.items() if value is not None}
    if reading.format is not None:
        return _forced(row, present, reading.format)
    matching = [known for known in families() if known.matches(row, present)]
    foreign = looks_like(present, [known.name for known in matching])
    if foreign is None and not matching:
        # A column of nulls: the family can still say what is wrong with it.
        matching = [known for known in families() if known.matches(row, set(row))][:1]
    if foreign is not None or not matching:
        return None, [_unknown(row, present, foreign)]
    chosen = matching[0]
    others = [known for known in matching[1:] if not chosen.explains(known, present)]
    # One that only adds columns to another is not said beside it.
    least = [known.name for known in others if not any(known.explains(one, present) for one in others if one != known)]
    if least:
        faults.append(Fault("S002", {"families": [chosen.name, *least], "read_as": chosen.name}))
    conversation, found = _converted(chosen, row)
    return conversation, collapse(faults + found)


def _forced(row: Row, present: set[str], name: str) -> Converted:
    """The row as one of the family that was asked for, whatever else it may be."""
    asked = next(known for known in families() if known.name == name)
    missing = asked.missing(present)
    if missing or not asked.where(row):
        is_one = [known.name for known in families() if known.matches(row, present)]
        found = {"format": name, "missing": missing, "keys": key_names(row), "is": is_one[0] if is_one else None}
        return None, [Fault("S016", found)]
    conversation, faults = _converted(asked, row)
    return conversation, collapse(faults)


def _converted(chosen: Family, row: Row) -> Converted:
    conversation, faults = chosen.convert(row)
    if conversation is not None:
        faults = faults + padding_faults(conversation)
    return conversation, faults if "prompt" in chosen.also else faults + prompt_faults(row)


def _unknown(row: Row, present: set[str], foreign: str | None) -> Fault:
    common = [known for known in families() if known.where is always]
    nearest = min(common, key=lambda known: (len(known.missing(present)) / len(known.keys), known.order))
    missing = nearest.missing(present)
    data: dict[str, Any] = {"keys": key_names(row), "looks_like": foreign, "nearest": None, "missing": []}
    if len(missing) < len(nearest.keys):
        data.update(nearest=nearest.name, missing=missing)
    return Fault("S001", data)
