"""The ladder as a table for people, and as JSON for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from lint_dataset.report.encode import dumps
from lint_dataset.report.json import SCHEMA_VERSION, plan_object
from lint_dataset.report.summary import plan_line
from lint_dataset.sizes import format_bytes

if TYPE_CHECKING:
    from lint_dataset.ladder import Ladder, Rung


def write(ladder: Ladder, out: TextIO, unjudged: Sequence[str] = ()) -> None:
    """Write the table: a line a length, gigabytes of 1e9 bytes by part, and what fits."""
    for note in ladder.notes:
        out.write(f"note: {note}\n")
    for sentence in unjudged:
        out.write(f"not judged: {sentence}\n")
    out.write(f"\nplan       {plan_line(ladder.plan)}\n")
    examples = "1 example" if ladder.plan.batch_size == 1 else f"{ladder.plan.batch_size:,} examples"
    out.write(f"step       {examples} of so many tokens, all trained on; in GB\n")
    if ladder.plan.loss != "logits":
        out.write("           logits are those alive at the peak: none where it lies in the layers, not in the loss\n")
    out.write("\n")
    for line in _table(ladder):
        out.write(line + "\n")
    if ladder.plan.budget is not None:
        out.write(f"\nfits       {_fits(ladder)}\n")


def write_json(ladder: Ladder, tool_version: str, out: TextIO, unjudged: Sequence[str] = ()) -> None:
    """Write one JSON object: ``version``, ``tool``, ``plan``, ``notes``, ``unjudged``, ``context``, ``ladder`` (a rung
    a length) and ``longest_that_fits``. Sizes are in bytes, lengths in tokens.
    """
    report = {
        "version": SCHEMA_VERSION,
        "tool": {"name": "lint-dataset", "version": tool_version},
        "plan": plan_object(ladder.plan),
        "notes": ladder.notes,
        "unjudged": unjudged,
        "context": ladder.context,
        "ladder": [rung_object(rung) for rung in ladder.rungs],
        "longest_that_fits": ladder.longest_that_fits,
    }
    out.write(dumps(report, indent=2) + "\n")


def write_jsonl(ladder: Ladder, out: TextIO) -> None:
    """Write each rung as one line: ``version``, then its keys in the JSON report."""
    for rung in ladder.rungs:
        out.write(dumps({"version": SCHEMA_VERSION, **rung_object(rung)}) + "\n")


def rung_object(rung: Rung) -> dict[str, Any]:
    """One rung with the keys of the JSON report."""
    return {
        "tokens": rung.tokens,
        "peak_bytes": rung.peak,
        "low_bytes": rung.low,
        "high_bytes": rung.high,
        "parts": dict(rung.parts),
    }


def _table(ladder: Ladder) -> list[str]:
    """The lines of the table, columns aligned on the right and the verdict after them."""
    budget = ladder.plan.budget
    loss = ladder.plan.loss
    # Where the loss works in pieces, none of them may be alive at the peak: then the 0 is no mistake.
    parts = [f"logits ({loss})" if part == "logits" != loss else part for part in ladder.rungs[0].parts]
    rows = [["tokens", *parts, "peak", "between"]]
    for rung in ladder.rungs:
        sizes = [f"{size / 1e9:.2f}" for size in (*rung.parts.values(), rung.peak)]
        rows.append([f"{rung.tokens:,}", *sizes, _between(rung, budget)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    verdicts = ["", *(rung.verdict(budget) if budget is not None else "" for rung in ladder.rungs)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [f"{line}  {verdict}".rstrip() for line, verdict in zip(lines, verdicts, strict=True)]


def _between(rung: Rung, budget: int | None) -> str:
    """The ends of the band; one that is over the budget and rounds to it is said to be over."""
    ends = []
    for size in (rung.low, rung.high):
        text = f"{size / 1e9:.1f}"
        over = budget is not None and size > budget and text == f"{budget / 1e9:.1f}"
        ends.append(f"just over {text}" if over else text)
    return " and ".join(ends)


def _fits(ladder: Ladder) -> str:
    budget = format_bytes(ladder.plan.budget or 0)
    if ladder.longest_that_fits is None:
        return f"no length fits {budget} for certain: choose another method, a smaller model or a larger budget"
    if ladder.longest_that_fits == ladder.context:
        return f"every length up to the model's {ladder.context:,} tokens fits {budget}"
    return f"max_length {ladder.longest_that_fits:,} is the longest that fits {budget}"
