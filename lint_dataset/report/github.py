"""The report as GitHub Actions takes it: workflow commands that put each finding beside its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from lint_dataset.diagnostics import SEVERITIES, Severity
from lint_dataset.report.summary import verdict
from lint_dataset.report.text import printable

if TYPE_CHECKING:
    from lint_dataset.result import Result

#: GitHub's words for severities.
_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def write(result: Result, rules: Mapping[str, tuple[str, Severity]], out: TextIO) -> None:
    """Write each finding as one workflow command, and what was not judged as an error of the run.

    ``rules`` gives the name of each code. GitHub shows the first ten of a kind in a step and keeps the log: the worst
    come first. The commands and their escapes: docs.github.com, "Workflow commands for GitHub Actions".
    """
    for sentence in result.unjudged:
        out.write(_command("error", {"title": "lint-dataset: not judged"}, sentence))
    for finding in sorted(result.diagnostics, key=lambda finding: SEVERITIES.index(finding.severity)):
        name = rules.get(finding.code, ("", ""))[0]
        where = {"file": printable(finding.path), "line": str(finding.line), "title": f"{finding.code} {name}".rstrip()}
        out.write(_command(_COMMANDS[finding.severity], where, f"{finding.message}\n{finding.remedy}"))
    out.write(verdict(result) + "\n")


def _command(name: str, properties: Mapping[str, str], message: str) -> str:
    given = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{name} {given}::{_escaped(message)}\n"


def _escaped(text: str, more: str = "") -> str:
    """A text without what would end a command: percent signs, line ends and, in a property, its separators."""
    return "".join(f"%{ord(char):02X}" if char in f"%\r\n{more}" else char for char in text)
