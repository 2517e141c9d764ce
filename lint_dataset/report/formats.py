"""The output formats by their names: which file of this room writes which. Each is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from lint_dataset.report.explain import Documented
    from lint_dataset.result import Result

NAMES = ("text", "json", "jsonl", "github", "sarif", "html")


def write(
    name: str,
    result: Result,
    rules: Mapping[str, Documented],
    tool_version: str,
    out: TextIO,
    *,
    color: bool,
    width: int | None,
) -> None:
    """Write a run in the format of this name, with what its ``rules`` say of themselves, by their codes.

    ``color`` and ``width`` (columns, None: no wrapping) are for text.
    """
    from lint_dataset.report import github, html, json, jsonl, sarif, text

    names = {code: (rule.name, rule.severity) for code, rule in rules.items()}
    match name:
        case "json":
            json.write(result, tool_version, out)
        case "jsonl":
            jsonl.write(result, out)
        case "github":
            github.write(result, names, out)
        case "sarif":
            sarif.write(result, rules.values(), tool_version, out)
        case "html":
            html.write(result, names, out)
        case _:
            text.write(result, names, out, color=color, width=width)
