"""What the rules say about themselves: one in full, all in a list, and the reference in Markdown.

python -m lint_dataset.report.explain > docs/rules.md
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lint_dataset.diagnostics import Severity

#: What the rules whose codes begin with a letter are about.
FAMILIES = {
    "J": "Files and JSON",
    "S": "The shape of a row",
    "M": "Messages and the chat template",
    "T": "What a max_length cuts",
    "A": "Audio and images",
    "O": "Memory",
}

_WIDTH = 100


class Documented(Protocol):
    """A rule, as far as its documentation goes."""

    @property
    def code(self) -> str:
        """The code, ``O001``."""

    @property
    def name(self) -> str:
        """The name, ``out-of-memory``."""

    @property
    def severity(self) -> Severity:
        """How severe its findings are."""

    @property
    def what(self) -> str:
        """What it looks for."""

    @property
    def why(self) -> str:
        """Why that matters."""

    @property
    def remedy(self) -> str:
        """What to do about it."""

    @property
    def example(self) -> str:
        """A row or a file that it finds."""


def explain(rule: Documented) -> str:
    """One rule in full, for a terminal."""
    parts = [f"{rule.code} {rule.name} ({rule.severity})"]
    for title, text in (("What it finds", rule.what), ("Why it matters", rule.why), ("What to do", rule.remedy)):
        parts.append(f"{title}\n{textwrap.fill(text, _WIDTH, initial_indent='  ', subsequent_indent='  ')}")
    parts.append(f"Example\n{textwrap.indent(rule.example.strip(), '  ')}")
    return "\n\n".join(parts) + "\n"


def rule_object(rule: Documented) -> dict[str, str]:
    """One rule for tools to read."""
    keys = ("code", "name", "severity", "what", "why", "remedy", "example")
    return {key: getattr(rule, key) for key in keys}


def list_rules(rules: Iterable[Documented]) -> str:
    """All rules, one a line: code, name, severity and what it finds."""
    rules = list(rules)
    name = max((len(rule.name) for rule in rules), default=0)
    severity = max((len(rule.severity) for rule in rules), default=0)
    return "".join(f"{rule.code}  {rule.name:{name}}  {rule.severity:{severity}}  {rule.what}\n" for rule in rules)


def reference(rules: Iterable[Documented]) -> str:
    """The reference of all rules as a Markdown page, in the order given, a section for each family."""
    page = ["# Rules", "`lint-dataset --explain CODE` prints one of these. A code never changes its meaning."]
    for letter, family in groupby(rules, key=lambda rule: rule.code[0]):
        page.append(f"## {letter}: {FAMILIES[letter]}")
        for rule in family:
            page.append(f"### {rule.code} {rule.name}")
            page += [
                f"*{rule.severity}.* {rule.what}",
                f"**Why it matters.** {rule.why}",
                f"**What to do.** {rule.remedy}",
            ]
            page.append(f"```text\n{rule.example.strip()}\n```")
    return "\n\n".join(page) + "\n"


def _main() -> None:
    import sys

    from lint_dataset.rules import all_rules

    sys.stdout.buffer.write(reference(all_rules().values()).encode())


if __name__ == "__main__":
    _main()
