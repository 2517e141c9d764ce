"""The text report: what to know first, the findings, and a summary that a person can act on."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TextIO

import click

from lint_dataset.diagnostics import SEVERITIES, Severity
from lint_dataset.report.summary import plan_line, summary_lines

if TYPE_CHECKING:
    from lint_dataset.diagnostics import Diagnostic
    from lint_dataset.result import Result

#: A rule with more findings than this shows its worst ones only, this many.
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
    shown, hidden = worst(result.diagnostics)
    for (code, _), number in result.unlisted.items():
        hidden[code] = hidden.get(code, 0) + number
    for finding, last in _runs(shown):
        page.finding(finding, last)
    for code, count in hidden.items():
        unlisted = any(code == other for other, _ in result.unlisted)
        told = "lists more of them" if unlisted else "shows them all"
        text = f"more, none worse than the {SHOWN} above: --output-format jsonl {told}"
        page.paragraph(Lead(f"... {count:,} "), Lead(f"{code} ", bold=True), text=text)
    if shown:
        page.line()
    for label, text in (("plan", plan_line(result.plan)), *summary_lines(result)):
        page.paragraph(Lead(f"{label:11}"), text=text)
    page.counts(result.summary.counts, {**rules, **_found(result.diagnostics, rules)})
    page.line(_verdict(result))


def worst(diagnostics: Sequence[Diagnostic]) -> tuple[list[Diagnostic], dict[str, int]]:
    """The findings to show, in the order given, and how many more there are of each code that has too many.

    Of a code with more than ``SHOWN`` findings the errors come before the warnings, then the larger by ``WORST_BY``.
    """
    by_code: dict[str, list[int]] = {}
    for index, diagnostic in enumerate(diagnostics):
        by_code.setdefault(diagnostic.code, []).append(index)
    keep: list[int] = []
    hidden: dict[str, int] = {}
    for code in sorted(by_code):
        ranked = sorted(by_code[code], key=lambda index: _badness(diagnostics[index]))
        keep += ranked[:SHOWN]
        if len(ranked) > SHOWN:
            hidden[code] = len(ranked) - SHOWN
    return [diagnostics[index] for index in sorted(keep)], hidden


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


def _runs(diagnostics: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, bool]]:
    """Each finding, and whether its remedy is due: neighbours of one code and one remedy share it."""
    for _, run in groupby(diagnostics, key=lambda d: (d.path, d.code, d.remedy)):
        *rest, last = run
        yield from ((diagnostic, False) for diagnostic in rest)
        yield last, True


def _found(
    diagnostics: Iterable[Diagnostic], rules: Mapping[str, tuple[str, Severity]]
) -> dict[str, tuple[str, Severity]]:
    """The rules as they were found: with the most severe of their findings."""
    severities: dict[str, set[Severity]] = {}
    for diagnostic in diagnostics:
        severities.setdefault(diagnostic.code, set()).add(diagnostic.severity)
    worst = {code: min(found, key=SEVERITIES.index) for code, found in severities.items()}
    return {code: (rules[code][0] if code in rules else "", severity) for code, severity in worst.items()}


def _verdict(result: Result) -> str:
    """The last line: how much was found."""
    counts = Counter(diagnostic.severity for diagnostic in result.diagnostics)
    for (_, severity), number in result.unlisted.items():
        counts[severity] += number
    found = [f"{counts[s]:,} {s}{'s' if counts[s] > 1 else ''}" for s in SEVERITIES if counts[s]]
    text = f"Found {' and '.join([', '.join(found[:-1]), found[-1]] if found[1:] else found)}." if found else ""
    if result.unjudged:
        return f"{text or 'Found nothing.'} Not everything could be judged: see the top."
    return text or "Found nothing."


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

    def finding(self, diagnostic: Diagnostic, with_remedy: bool) -> None:
        """``path:line: CODE message``, and the remedy beneath."""
        where = Lead(f"{printable(diagnostic.path)}:{diagnostic.line}: ", bold=True)
        code = Lead(f"{diagnostic.code} ", _COLORS[diagnostic.severity], bold=True)
        self.paragraph(where, code, text=diagnostic.message, indent=4)
        if with_remedy:
            self.paragraph(Lead("    help: ", "green"), text=diagnostic.remedy)

    def counts(self, counts: Mapping[str, int], rules: Mapping[str, tuple[str, Severity]]) -> None:
        """The findings by rule, in columns."""
        found = {code: number for code, number in counts.items() if number}
        numbers = max((len(f"{number:,}") for number in found.values()), default=0)
        names = max((len(rules[code][0]) for code in found if code in rules), default=0)
        for index, (code, number) in enumerate(found.items()):
            name, severity = rules.get(code, ("", "error"))
            label = Lead("found      " if index == 0 else " " * 11)
            amount, rule = Lead(f"{number:{numbers},}  "), Lead(f"{code}  ", _COLORS[severity], bold=True)
            self.paragraph(label, amount, rule, text=f"{name:{names}}  {severity}")

    def _styled(self, lead: Lead) -> str:
        plain = not self.color or (lead.fg is None and not lead.bold)
        return lead.text if plain else click.style(lead.text, fg=lead.fg, bold=lead.bold or None)
