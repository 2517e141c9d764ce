"""Sizes in bytes as people write and read them: GB is 1e9 bytes, GiB is 2**30."""

from __future__ import annotations

import re

from lint_dataset.usage import PlanError

UNITS = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}


def parse_bytes(text: str, what: str = "budget") -> int:
    """The bytes that ``36GB``, ``24GiB`` or ``40000MiB`` mean; ``what`` names the setting in errors.

    Raises ``PlanError`` for anything else: a bare number is not guessed at.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", text)
    units = {unit.casefold(): size for unit, size in UNITS.items()}
    if match is None or match[2].casefold() not in units:
        raise PlanError(f"{what} {text!r} is not a size: write a number and a unit, such as 36GB, 24GiB or 40000MiB")
    return int(float(match[1]) * units[match[2].casefold()])


def format_bytes(size: float) -> str:
    """A size for people to read, in decimal gigabytes: ``38.2 GB``."""
    return f"{size / 1e9:.1f} GB" if abs(size) >= 1e8 else f"{size / 1e6:.1f} MB"
