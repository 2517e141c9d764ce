"""The formats, and which of them a configuration is of.

A format registers itself when its module in ``formats/`` is imported, and every module there is imported by
:func:`all_formats`, so adding one touches nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from lint_dataset.trainer_configs.draft import Draft
from lint_dataset.trainer_configs.reading import Source


class Format(NamedTuple):
    """One way in which trainers are configured.

    ``marks`` are the keys that tell it from the others, ``programs`` the commands that start it, ``commands`` the
    sub-commands that train as we judge (an empty one stands for none). ``last`` are keys by which a configuration is
    known that has no mark of any format.
    """

    name: str
    #: The release whose defaults fill what the file does not say, as the plan shows it.
    release: str
    #: A few keys, for people.
    example: str
    marks: frozenset[str]
    last: frozenset[str]
    programs: tuple[str, ...]
    commands: tuple[str, ...]
    read: Callable[[Draft], None]


_registry: dict[str, Format] = {}


def trainer_format(
    name: str,
    *,
    release: str,
    example: str,
    marks: set[str] | frozenset[str],
    last: set[str] | frozenset[str] = frozenset(),
    programs: tuple[str, ...] = (),
    commands: tuple[str, ...] = (),
) -> Callable[[Callable[[Draft], None]], Callable[[Draft], None]]:
    """Register the decorated function, which takes the keys out of a draft, as the format ``name``."""

    def register(read: Callable[[Draft], None]) -> Callable[[Draft], None]:
        if name in _registry:
            raise ValueError(f"two formats are named {name}")
        _registry[name] = Format(name, release, example, frozenset(marks), frozenset(last), programs, commands, read)
        return read

    return register


@cache
def all_formats() -> dict[str, Format]:
    """Every format by its name, in alphabetical order."""
    from lint_dataset.trainer_configs import formats as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return {name: _registry[name] for name in sorted(_registry)}


def candidates(source: Source) -> list[Format]:
    """The formats that a source can be of: the one whose program it starts, else those with the most marks in it."""
    started = [each for each in all_formats().values() if source.program in each.programs]
    if started:
        return [next((each for each in started if source.command in each.commands), started[0])]
    for keys in ("marks", "last"):
        found = {each.name: len(getattr(each, keys) & source.keys.keys()) for each in all_formats().values()}
        most = max(found.values())
        if most:
            return [each for each in all_formats().values() if found[each.name] == most]
    return []
