"""The report as SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import quote

from lint_dataset.diagnostics import Severity
from lint_dataset.report.encode import dumps

if TYPE_CHECKING:
    from lint_dataset.diagnostics import Diagnostic
    from lint_dataset.report.explain import Documented
    from lint_dataset.result import Result

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def write(result: Result, rules: Iterable[Documented], tool_version: str, out: TextIO) -> None:
    """Write the run as one SARIF log: the rules that found something, their findings, and what was not judged.

    The specification: docs.oasis-open.org/sarif/sarif/v2.1.0. A path that is relative stays so; every other is a URI.
    """
    found = {finding.code for finding in result.diagnostics}
    used = [rule for rule in rules if rule.code in found]
    numbers = {rule.code: index for index, rule in enumerate(used)}
    run = {
        "tool": {
            "driver": {"name": "lint-dataset", "version": tool_version, "rules": [_rule(rule) for rule in used]},
        },
        "invocations": [
            {
                "executionSuccessful": not result.unjudged,
                "toolExecutionNotifications": [
                    *(_notification("error", sentence) for sentence in result.unjudged),
                    *(_notification("note", sentence) for sentence in result.notes),
                ],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, numbers[finding.code]) for finding in result.diagnostics],
    }
    out.write(dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n")


def _rule(rule: Documented) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Diagnostic, rule: int) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _uri(finding.path)}, "region": {"startLine": max(finding.line, 1)}}
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": f"{finding.message}. {finding.remedy}"},
        "locations": [{"physicalLocation": place}],
        "properties": dict(finding.data),
    }


def _notification(level: Severity, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}


def _uri(path: str) -> str:
    """A file as a URI: an address stays one."""
    if "://" in path:
        return quote(path, safe=":/?#[]@!$&'()*+,;=%~")
    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(Path(path).as_posix())
