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
from lint_dataset.conversations.shape import Conversation
from lint_dataset.faults import Fault

Row = dict[str, Any]
Converted = tuple[Conversation | None, list[Fault]]


class Family(NamedTuple):
    """One way to write a conversation down.

    ``keys`` are the columns a row must have, each group a choice: ``(("instruction",), ("output", "response"))``.
    Where a row has the keys of several families, the one with the lowest ``order`` is what trainers read.
    """

    name: str
    keys: tuple[tuple[str, ...], ...]
    order: int
    convert: Callable[[Row], Converted]

    def matches(self, present: set[str]) -> bool:
        """Whether a row with these keys belongs to the family."""
        return all(any(key in present for key in group) for group in self.keys)

    def missing(self, present: set[str]) -> list[str]:
        """The keys that a row with these keys lacks; the first of a choice stands for it."""
        return [group[0] for group in self.keys if not any(key in present for key in group)]


_registry: dict[str, Family] = {}


def family(name: str, *, keys: tuple[tuple[str, ...], ...], order: int) -> Callable[..., Any]:
    """Register the decorated function (row -> conversation and faults) as the family ``name``."""

    def register(convert: Callable[[Row], Converted]) -> Callable[[Row], Converted]:
        if name in _registry:
            raise ValueError(f"two families are named {name}")
        _registry[name] = Family(name, keys, order, convert)
        return convert

    return register


@cache
def families() -> tuple[Family, ...]:
    """Every family, in the order in which trainers look for them."""
    from lint_dataset.conversations import families as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return tuple(sorted(_registry.values(), key=lambda known: known.order))


def convert(row: Any) -> Converted:
    """Bring one parsed line to the one shape; None where the row holds no conversation that could be rendered.

    The faults name what is wrong. Anything but an object gives nothing: parsing has already said what it is.
    """
    if not isinstance(row, dict):
        return None, []
    # A column that another row needed is null here: exports from tables fill every column of every row.
    present = {key for key, value in row.items() if value is not None}
    matching = [known for known in families() if known.matches(present)]
    foreign = looks_like(present, [known.name for known in matching])
    if foreign is None and not matching:
        # A column of nulls: the family can still say what is wrong with it.
        matching = [known for known in families() if known.matches(set(row))][:1]
    if foreign is not None or not matching:
        return None, [_unknown(row, present, foreign)]
    faults = []
    if len(matching) > 1:
        faults.append(Fault("S002", {"families": [known.name for known in matching], "read_as": matching[0].name}))
    conversation, found = matching[0].convert(row)
    found += prompt_faults(row)
    return conversation, collapse(faults + found)


def _unknown(row: Row, present: set[str], foreign: str | None) -> Fault:
    nearest = min(families(), key=lambda known: (len(known.missing(present)) / len(known.keys), known.order))
    missing = nearest.missing(present)
    data: dict[str, Any] = {"keys": key_names(row), "looks_like": foreign, "nearest": None, "missing": []}
    if len(missing) < len(nearest.keys):
        data.update(nearest=nearest.name, missing=missing)
    return Fault("S001", data)
