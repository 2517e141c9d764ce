"""A diagnostic: what is wrong, where, by how much, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]

#: From the most to the least severe. A note is said and never fails a run.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Diagnostic:
    """One finding about one line of one file.

    ``line`` counts from 1. ``message`` is one sentence with the numbers, ``remedy`` one sentence that says what to
    do, and ``data`` holds the same numbers for tools to read.
    """

    code: str
    severity: Severity
    path: str
    line: int
    message: str
    remedy: str
    data: Mapping[str, Any] = field(default_factory=dict)
