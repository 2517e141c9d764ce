"""The JSONL report: one finding a line, for tools that read a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from lint_dataset.report.encode import dumps
from lint_dataset.report.json import SCHEMA_VERSION, diagnostic_object

if TYPE_CHECKING:
    from lint_dataset.result import Result


def write(result: Result, out: TextIO) -> None:
    """Write each finding as one line: ``version``, then the keys of a finding in the JSON report."""
    for diagnostic in result.diagnostics:
        out.write(dumps({"version": SCHEMA_VERSION, **diagnostic_object(diagnostic)}) + "\n")
