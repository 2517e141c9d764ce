"""Helpers for the faults of a row: names that are safe to repeat, and one fault for the same thing said often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lint_dataset.faults import Fault

_LONGEST_NAME = 40
_MOST_NAMES = 12


def name_of(value: Any) -> str:
    """A key or a role as a report may repeat it: short and printable."""
    text = str(value)
    shown = "".join(char if char.isprintable() else "?" for char in text[: _LONGEST_NAME + 1])
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"


def key_names(keys: Iterable[Any]) -> list[str]:
    """The first keys of an object, as a report may repeat them."""
    names = [name_of(key) for _, key in zip(range(_MOST_NAMES + 1), keys, strict=False)]
    return names if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], "…"]


def type_name(value: Any) -> str:
    """What a JSON value is, in JSON's own words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, bytes):  # From a table: JSON has no word for it.
        return "binary"
    return "array" if isinstance(value, list) else "object"


def collapse(faults: Iterable[Fault]) -> list[Fault]:
    """Say the same thing about several messages of a row once: the first of them, and how many there are (``times``).

    Faults are the same when their code and all their data but the place (``message``, ``part``) agree.
    """
    first: dict[str, Fault] = {}
    for fault in faults:
        rest = {key: value for key, value in fault.data.items() if key not in ("message", "part")}
        same = f"{fault.code}{rest!r}"
        if same in first:
            first[same].data["times"] = first[same].data.get("times", 1) + 1
        else:
            first[same] = Fault(fault.code, dict(fault.data))
    return list(first.values())
