"""The text report: what to know first, the findings, and a summary that a person can act on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TextIO

import click

from lint_dataset.diagnostics import SEVERITIES, Severity
from lint_dataset.report.summary import plan_line, summary_lines, verdict

if TYPE_CHECKING:
    from lint_dataset.diagnostics import Diagnostic
    from lint_dataset.result import Result

#: A rule that found something on more lines than this shows the worst ones only, this many.
SHOWN = 10

#: What makes one finding of a rule worse than another: the first of these numbers that its data holds, the larger the
#: worse. Bytes over the budget, then tokens lost, seconds too long, tokens; findings that tie keep their order.
WORST_BY = ("over_bytes", "lost", "seconds", "tokens")

_COLORS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": "cyan"}


def write(
    result: Result, rules: Mapping[str, tuple[str, Severity]], out: TextIO, *, color: bool, width: int | None
) -> None:
    """Write the run for a person to read.

    ``rules`` gives the name and the severity of each code. ``color`` asks for terminal colours. Lines are wrapped at
    ``width`` columns; with None, each message, remedy and line of the summary stays on one line.
    """
    page = _Page(out, color, width)
    for note in result.notes:
        page.paragraph(Lead("note: ", "cyan"), text=note)
    for sentence in result.unjudged:
        page.paragraph(Lead("not judged: ", "red", bold=True), text=sentence)
    if result.notes or result.unjudged:
        page.line()
    groups = worst(result.diagnostics, unlisted=result.unlisted)
    for group in groups:
        for finding, others, last in _runs(group.shown):
            page.finding(finding, others, last)
        if group.hidden:
            told = "lists more of them" if group.unlisted else "shows them all"
            text = f"more, none worse than the {SHOWN} lines above: --output-format jsonl {told}"
            page.paragraph(Lead(f"... {group.hidden:,} "), Lead(f"{group.code} ", bold=True), text=text)
    if groups:
        page.line()
    for label, text in (("plan", plan_line(result.plan)), *summary_lines(result)):
        page.paragraph(Lead(f"{label:11}"), text=text)
    page.counts(groups, result.summary.counts, rules)
    page.line(verdict(result))


class Group(NamedTuple):
    """The findings of one rule.

    ``severities`` are those that they have, the worst first. ``shown`` are the findings to show, one a line of a file,
    each with how many others of the rule there are on its line; ``hidden`` counts the findings on the lines left out,
    and those that are ``unlisted``.
    """

    code: str
    severities: tuple[Severity, ...]
    shown: list[tuple[Diagnostic, int]]
    hidden: int
    unlisted: bool


def worst(
    diagnostics: Iterable[Diagnostic],
    most: int = SHOWN,
    unlisted: Mapping[tuple[str, Severity], Sized] = MappingProxyType({}),
) -> list[Group]:
    """The findings by rule, the rules with the worst severity first.

    Of a rule that found something on more than ``most`` lines the worst lines are shown, in the order given: errors
    before warnings, then the larger by ``WORST_BY``. A line is as bad as the worst of its findings. ``unlisted`` are
    findings that were only counted, by code and severity.
    """
    by_code: dict[str, dict[tuple[str, int], list[Diagnostic]]] = {}
    for diagnostic in diagnostics:
        lines = by_code.setdefault(diagnostic.code, {})
        lines.setdefault((diagnostic.path, diagnostic.line), []).append(diagnostic)
    groups = []
    for code, lines in by_code.items():
        counted = {severity: len(places) for (other, severity), places in unlisted.items() if other == code}
        found = counted.keys() | {one.severity for line in lines.values() for one in line}
        heads = [(min(line, key=_badness), len(line) - 1) for line in lines.values()]
        ranked = sorted(range(len(heads)), key=lambda index: _badness(heads[index][0]))
        shown = [heads[index] for index in sorted(ranked[:most])]
        hidden = sum(1 + heads[index][1] for index in ranked[most:]) + sum(counted.values())
        severities = tuple(severity for severity in SEVERITIES if severity in found)
        groups.append(Group(code, severities, shown, hidden, bool(counted)))
    return sorted(groups, key=lambda group: (SEVERITIES.index(group.severities[0]), group.code))


def printable(text: str) -> str:
    """The text with everything that a terminal would obey, or that cannot be encoded, written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _badness(diagnostic: Diagnostic) -> tuple[float, ...]:
    """A sort key, the worst first."""
    numbers = (diagnostic.data.get(key) for key in WORST_BY)
    known = next((n for n in numbers if isinstance(n, (int, float)) and n == n), float("-inf"))
    return SEVERITIES.index(diagnostic.severity), -known


def _runs(findings: Iterable[tuple[Diagnostic, int]]) -> Iterator[tuple[Diagnostic, int, bool]]:
    """Each finding with those beside it, and whether its remedy is due: neighbours with one remedy share it."""
    for _, run in groupby(findings, key=lambda finding: finding[0].remedy):
        *rest, last = run
        yield from ((*finding, False) for finding in rest)
        yield (*last, True)


class Lead(NamedTuple):
    """How a line begins, and in what colour."""

    text: str
    fg: str | None = None
    bold: bool = False


class _Page:
    """Where the lines go, wrapped and coloured."""

    def __init__(self, out: TextIO, color: bool, width: int | None) -> None:
        self.out = out
        self.color = color
        self.width = width

    def line(self, text: str = "") -> None:
        self.out.write(text + "\n")

    def paragraph(self, *leads: Lead, text: str, indent: int | None = None) -> None:
        """The leads in their colours, then the text; further lines are indented (under the text, unless given)."""
        lead, text = "".join(piece.text for piece in leads), printable(text)
        first, further = text, []
        if self.width:
            first, *further = textwrap.wrap(
                text,
                max(self.width, 40),
                initial_indent=lead,
                subsequent_indent=" " * (len(lead) if indent is None else indent),
                break_long_words=False,
                break_on_hyphens=False,
            ) or [lead]
            first = first[len(lead) :]
        self.line("".join(self._styled(piece) for piece in leads) + first)
        for line in further:
            self.line(line)

    def finding(self, diagnostic: Diagnostic, others: int, with_remedy: bool) -> None:
        """``path:line: CODE message``, and the remedy beneath."""
        where = Lead(f"{printable(diagnostic.path)}:{diagnostic.line}: ", bold=True)
        code = Lead(f"{diagnostic.code} ", _COLORS[diagnostic.severity], bold=True)
        more = f" (and {others:,} more on this line)" if others else ""
        self.paragraph(where, code, text=f"{diagnostic.message}{more}", indent=4)
        if with_remedy:
            self.paragraph(Lead("    help: ", "green"), text=diagnostic.remedy)

    def counts(
        self, groups: Iterable[Group], counts: Mapping[str, int], rules: Mapping[str, tuple[str, Severity]]
    ) -> None:
        """The findings by rule, in columns, each with the severities that its findings have."""
        rows = [(f"{counts[group.code]:,}", rules.get(group.code, ("",))[0], group) for group in groups]
        numbers, names = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
        for index, (number, name, group) in enumerate(rows):
            label = Lead("found      " if index == 0 else " " * 11)
            rule = Lead(f"{group.code}  ", _COLORS[group.severities[0]], bold=True)
            severities = " or ".join(group.severities)
            self.paragraph(label, Lead(f"{number:>{numbers}}  "), rule, text=f"{name:{names}}  {severities}")

    def _styled(self, lead: Lead) -> str:
        plain = not self.color or (lead.fg is None and not lead.bold)
        return lead.text if plain else click.style(lead.text, fg=lead.fg, bold=lead.bold or None)
