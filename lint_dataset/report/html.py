"""The report as one HTML file that needs nothing else: the summary, a histogram of lengths, a table of findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, TextIO

from lint_dataset.diagnostics import Severity
from lint_dataset.report.summary import plan_line, summary_lines, verdict
from lint_dataset.report.text import printable, worst

if TYPE_CHECKING:
    from lint_dataset.result import Result

#: The histogram, in pixels and bars.
_WIDTH, _HEIGHT, _BARS = 900, 220, 60
#: The table holds this many lines of a rule; the JSON reports hold all.
_ROWS = 1000

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1100px; padding: 0 1em; color: #1d2430; }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; vertical-align: top; padding: .3em .6em }
tr { border-top: 1px solid #d9dee5 }
dt { float: left; clear: left; width: 6em; color: #5a6675 } dd { margin: 0 0 0 6em }
.error { color: #b3261e } .warning { color: #8a5a00 } .note { color: #38618c } .remedy { color: #5a6675 }
.said { background: #fff6e0; padding: .5em .8em; margin: .4em 0 } .unjudged { background: #fde9e7 }
code { font-size: .95em } svg text { font: 12px system-ui, sans-serif; fill: #5a6675 }
"""


def write(result: Result, rules: Mapping[str, tuple[str, Severity]], out: TextIO) -> None:
    """Write the run as one page without scripts and without anything from the network.

    ``rules`` gives the name of each code. Lengths are drawn from ``result.rows``, with lines at the plan's max_length
    and at the longest that fits the budget.
    """
    out.write('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>lint-dataset</title>\n')
    out.write(f"<style>{_STYLE}</style></head><body>\n<h1>lint-dataset</h1>\n<p>{_text(verdict(result))}</p>\n")
    for kind, sentences in (("unjudged", result.unjudged), ("note", result.notes)):
        lead = "not judged: " if kind == "unjudged" else ""
        out.writelines(f'<p class="said {kind}">{lead}{_text(sentence)}</p>\n' for sentence in sentences)
    out.write("<dl>\n")
    for label, text in (("plan", plan_line(result.plan)), *summary_lines(result)):
        out.write(f"<dt>{label or '&nbsp;'}</dt><dd>{_text(text)}</dd>\n")
    out.write("</dl>\n")
    tokens = [number for number in result.rows.column("tokens").to_pylist() if number is not None]
    if tokens:
        out.write("<h2>Lengths in tokens</h2>\n")
        out.writelines(_histogram(tokens, _limits(result)))
    out.writelines(_findings(result, rules))
    out.write("</body></html>\n")


def _limits(result: Result) -> list[tuple[int, str]]:
    """The lengths that matter, with what they are."""
    fits = result.summary.longest_that_fits
    longest = fits.tokens if fits is not None else None
    found = [(result.plan.max_length, "max_length"), (longest, "longest that fits the budget")]
    return [(length, name) for length, name in found if length is not None]


def _histogram(tokens: Sequence[int], limits: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Bars of equal width from 0 to the longest row, as SVG; a bar of one row is still a pixel high."""
    most = max(tokens)
    step = max(1, -(-(most + 1) // _BARS))
    bars = [0] * (most // step + 1)
    for number in tokens:
        bars[number // step] += 1
    wide, high = _WIDTH / len(bars), max(bars)
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + 40}" role="img" aria-label="histogram of lengths">\n'
    for index, count in enumerate(bars):
        if count:
            tall = max(1.0, count / high * _HEIGHT)
            span = f"{index * step:,} to {(index + 1) * step - 1:,} tokens: {count:,} examples"
            yield (
                f'<rect x="{index * wide:.1f}" y="{20 + _HEIGHT - tall:.1f}" width="{max(wide - 1, 1):.1f}" '
                f'height="{tall:.1f}" fill="#7a9cc6"><title>{span}</title></rect>\n'
            )
    for number, (length, name) in enumerate(limits):
        place = length / (len(bars) * step) * _WIDTH
        over = sum(tokens_of > length for tokens_of in tokens)
        label = f"{name} {length:,}: {over:,} longer"
        if place > _WIDTH:
            yield f'<text x="{_WIDTH}" y="{12 + 14 * number}" text-anchor="end">{label}</text>\n'
            continue
        side, beside = ("end", place - 4) if place > _WIDTH / 2 else ("start", place + 4)
        yield f'<line x1="{place:.1f}" x2="{place:.1f}" y1="0" y2="{20 + _HEIGHT}" stroke="#b3261e"/>\n'
        yield f'<text x="{beside:.1f}" y="{12 + 14 * number}" text-anchor="{side}">{label}</text>\n'
    yield f'<text x="0" y="{_HEIGHT + 36}">0</text>\n'
    yield f'<text x="{_WIDTH}" y="{_HEIGHT + 36}" text-anchor="end">{len(bars) * step:,}</text>\n</svg>\n'


def _findings(result: Result, rules: Mapping[str, tuple[str, Severity]]) -> Iterator[str]:
    groups = worst(result.diagnostics, _ROWS, result.unlisted)
    for group in groups:
        name = rules.get(group.code, ("",))[0]
        number = result.summary.counts.get(group.code, 0)
        yield f'<h2 class="{group.severities[0]}">{group.code} {escape(name)} ({number:,})</h2>\n<table>\n'
        for finding, others in group.shown:
            more = f" (and {others:,} more on this line)" if others else ""
            yield (
                f'<tr><td><code>{_text(finding.path)}:{finding.line}</code></td><td class="{finding.severity}">'
                f"{finding.severity}</td><td>{_text(finding.message)}{more}"
                f'<div class="remedy">{_text(finding.remedy)}</div></td></tr>\n'
            )
        yield "</table>\n"
        if group.hidden:
            yield f"<p>{group.hidden:,} more: --output-format jsonl has them all.</p>\n"


def _text(text: str) -> str:
    return escape(printable(text))
