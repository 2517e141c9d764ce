"""Findings under an estimate: what is certain even at the low end, what is likely, and what is only possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lint_dataset.diagnostics import Diagnostic

#: Rules about truncation and memory depend on the number of tokens; the others are the same at either end.
_BY_TOKENS = ("T", "O")


def possible(low: Sequence[Diagnostic], likely: Sequence[Diagnostic], high: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings of examples judged three times: with the fewest, the likely and the most tokens they may have.

    A finding that depends on tokens keeps its severity only where its row has it even with the fewest; otherwise it
    is possible, a warning at most. A cut inside an answer (T002) is certain only where the row has one answer, or
    where the most tokens cut inside the same one: otherwise it may fall between two answers. ``data`` says so:
    ``certain``. A row that is found only with the most tokens is reported as it is found then, and what any is told to
    do is enough for the most tokens. Sorted by path, line and code.
    """
    certain = {_key(diagnostic) for diagnostic in low}
    cut_at_most = {_cut(diagnostic) for diagnostic in high}
    certain -= {
        _key(diagnostic)
        for diagnostic in (*low, *likely)
        if diagnostic.code == "T002" and diagnostic.data.get("of") != 1 and _cut(diagnostic) not in cut_at_most
    }
    found = [diagnostic for diagnostic in likely if not _by_tokens(diagnostic)]
    counted = [diagnostic for diagnostic in likely if _by_tokens(diagnostic)]
    known = {_key(diagnostic) for diagnostic in counted}
    counted += [diagnostic for diagnostic in low if _by_tokens(diagnostic) and _key(diagnostic) not in known]
    touched = {_family(diagnostic) for diagnostic in counted}
    counted += [diagnostic for diagnostic in high if _by_tokens(diagnostic) and _family(diagnostic) not in touched]
    safe: dict[Any, str] = {_family(diagnostic): diagnostic.remedy for diagnostic in high}
    safe |= {_key(diagnostic): diagnostic.remedy for diagnostic in high}
    counted = [
        replace(found, remedy=safe.get(_key(found)) or safe.get(_family(found)) or found.remedy) for found in counted
    ]
    found += [_marked(diagnostic, _key(diagnostic) in certain) for diagnostic in counted]
    return sorted(found, key=lambda d: (d.path, d.line, d.code, d.message))


def _marked(diagnostic: Diagnostic, certain: bool) -> Diagnostic:
    data = {**diagnostic.data, "estimated": True, "certain": certain}
    if certain:
        return replace(diagnostic, data=data)
    severity = "warning" if diagnostic.severity == "error" else diagnostic.severity
    return replace(diagnostic, severity=severity, message=f"possible: {diagnostic.message}", data=data)


def _by_tokens(diagnostic: Diagnostic) -> bool:
    return diagnostic.code.startswith(_BY_TOKENS)


def _key(diagnostic: Diagnostic) -> tuple[str, int, str]:
    return diagnostic.path, diagnostic.line, diagnostic.code


def _cut(diagnostic: Diagnostic) -> tuple[str, int, str, object]:
    return *_key(diagnostic), diagnostic.data.get("answer")


def _family(diagnostic: Diagnostic) -> tuple[str, int, str]:
    return diagnostic.path, diagnostic.line, diagnostic.code[0]
