"""The JSON report: one object that holds everything a tool may want to know of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TextIO

from lint_dataset.report.encode import dumps

if TYPE_CHECKING:
    from lint_dataset.diagnostics import Diagnostic
    from lint_dataset.plan import Plan
    from lint_dataset.result import Result, Summary

#: The version of the JSON and JSONL reports. It grows when a key changes its meaning or goes, not when one is added.
SCHEMA_VERSION = 1


def write(result: Result, tool_version: str, out: TextIO) -> None:
    """Write the run as one JSON object. Sizes are in bytes, lengths in tokens.

    Its keys: ``version``, ``tool``, ``plan``, ``estimated`` (null where the processor counted), ``notes``,
    ``unjudged``, ``summary``, ``baseline`` (null where none was given), ``unlisted`` (how many findings of a code are
    only counted), ``diagnostics``.
    """
    report = {
        "version": SCHEMA_VERSION,
        "tool": {"name": "lint-dataset", "version": tool_version},
        "plan": plan_object(result.plan),
        "estimated": result.estimated and {"family": result.estimated.family, "width": result.estimated.width},
        "notes": result.notes,
        "unjudged": result.unjudged,
        "summary": summary_object(result.summary),
        "baseline": result.baseline and asdict(result.baseline),
        "unlisted": _by_code(result),
        "diagnostics": [diagnostic_object(diagnostic) for diagnostic in result.diagnostics],
    }
    out.write(dumps(report, indent=2) + "\n")


def _by_code(result: Result) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for (code, _), places in result.unlisted.items():
        counts[code] += len(places)
    return dict(counts)


def plan_object(plan: Plan) -> dict[str, Any]:
    """Every setting of the plan, and under ``origins`` where each came from."""
    return {**plan.settings(), "origins": dict(plan.origins)}


def summary_object(summary: Summary) -> dict[str, Any]:
    """The numbers of the run; ``longest_row`` and ``longest_that_fits`` are null where memory was not judged.

    ``by_default`` is what the trainer's own ``max_length`` would do; null where one was given, or it has none.
    """
    row, fits = summary.longest_row, summary.longest_that_fits
    return {
        "files": summary.files,
        "examples": summary.examples,
        "measured": summary.measured,
        "tokens": dict(summary.tokens),
        "counts": dict(summary.counts),
        "longest_row": row
        and {
            "path": row.path,
            "line": row.line,
            "tokens": row.tokens,
            "peak_bytes": row.peak,
            "parts": dict(row.parts),
        },
        "longest_that_fits": fits and asdict(fits),
        "by_default": summary.by_default and asdict(summary.by_default),
    }


def diagnostic_object(diagnostic: Diagnostic) -> dict[str, Any]:
    """One finding with the keys that every format of this package uses."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "path": diagnostic.path,
        "line": diagnostic.line,
        "message": diagnostic.message,
        "remedy": diagnostic.remedy,
        "data": dict(diagnostic.data),
    }
