"""O: the examples whose training step would run out of memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lint_dataset.plan import format_bytes
from lint_dataset.rules import Finding, Judged, rule

if TYPE_CHECKING:
    from lint_dataset.memory import Verdicts
    from lint_dataset.rows import Bools

_EXAMPLE = '{"messages": [{"role": "user", "content": "… 40,000 characters …"}, …]}'


def _step(judged: Judged, row: int) -> str:
    """The step that a row stands for: ``2,310 tokens need``, ``a batch of 4 x 2,310 tokens needs``."""
    if judged.plan.packing != "none":
        # All packed steps are alike, whichever rows they hold.
        return f"every packed step of {judged.plan.batch_size} x {judged.plan.max_length:,} tokens needs"
    if _padded_alike(judged):
        return f"every step of {judged.plan.batch_size} x {int(judged.reach.step[row]):,} padded tokens needs"
    tokens = f"{judged.figure(int(judged.reach.step[row]))} tokens"
    media = judged.rows.media
    mine = (media.row == row) & media.audio
    if mine.any():
        clips, longest = int(mine.sum()), float(np.nanmax(np.append(media.seconds[mine], 0.0)))
        length = f"up to {longest:.1f} s" if longest else "unknown length, taken as 30 s"
        tokens += f" with {clips} clip{'s' if clips > 1 else ''} of {length}"
    if judged.plan.batch_size > 1:
        return f"a batch of {judged.plan.batch_size} x {tokens} needs"
    return f"{tokens} need"


def _rows(judged: Judged, hit: Bools) -> list[int]:
    """The rows to report: every one that is hit, or, of a packed or padded data set, the first for all."""
    rows: list[int] = np.flatnonzero(hit).tolist()
    return rows[:1] if judged.plan.packing != "none" or _padded_alike(judged) else rows


def _padded_alike(judged: Judged) -> bool:
    """Whether every step is padded to one length, and no clip or image makes one heavier than another."""
    return judged.plan.pad_to_max_length and not len(judged.rows.media.row)


def _lighter(judged: Judged, memory: Verdicts) -> str:
    """What else of the plan could be changed, in sentences: the batch, and settings that hold less in every step."""
    plan, batch, said = judged.plan, memory.batch_that_fits, ""
    if plan.batch_size > 1 and batch is not None:
        said = f" Or take a batch of {batch}, the largest in which the heaviest row fits."
    elif plan.batch_size > 1:
        said = " A smaller batch alone is not enough: the heaviest row does not even fit by itself."
    return said + "".join(f" With {options} {most:,} tokens fit." for options, most in memory.longest_with.items())


def _finding(judged: Judged, memory: Verdicts, budget: int, row: int, message: str) -> Finding:
    """The finding of one row, with the numbers and what would fit."""
    peak, fits = int(memory.peak[row]), memory.longest_that_fits
    advice = "No length fits this plan for certain: choose another method, a smaller model or a larger budget."
    if fits is not None and judged.plan.packing != "none":
        advice = f"Pack to a max_length of {fits:,} or less, the longest step that fits."
    elif fits is not None and _padded_alike(judged):
        advice = f"Pad to a max_length of {fits:,} or less, the longest step that fits, or do not pad."
    elif fits is not None:
        audio = " beside this dataset's heaviest audio" if judged.rows.media.audio.any() else ""
        advice = f"Shorten or split it, or cut at a max_length of {fits:,} or less: the longest step that fits{audio}."
    advice += _lighter(judged, memory)
    data = {
        "tokens": int(judged.reach.step[row]),
        "batch_size": judged.plan.batch_size,
        "peak_bytes": peak,
        "budget_bytes": budget,
        "over_bytes": peak - budget,
        "longest_that_fits": fits,
        "batch_that_fits": memory.batch_that_fits,
    }
    return Finding(row, message, advice, data)


@rule(
    "O001",
    "out-of-memory",
    "error",
    what="The training step that holds this example needs more memory than the budget, beyond the error of the "
    "prediction.",
    why="The run dies at the step that happens to draw this example, often hours in.",
    remedy="Shorten or split the example, set a max_length, or change the plan: gradient checkpointing, a smaller "
    "batch, LoRA or QLoRA, or a chunked loss if a program for it is at hand (--list-models).",
    example=_EXAMPLE,
)
def out_of_memory(judged: Judged) -> Iterator[Finding]:
    """Rows whose whole band of peaks lies above the budget."""
    memory, budget = judged.memory, judged.plan.budget
    if memory is None or budget is None:
        return
    for row in _rows(judged, memory.low > budget):
        peak = int(memory.peak[row])
        message = (
            f"{_step(judged, row)} {judged.figure(format_bytes(peak))}, "
            f"{judged.figure(format_bytes(peak - budget))} over the budget of {format_bytes(budget)}"
        )
        yield _finding(judged, memory, budget, row, message)


@rule(
    "O003",
    "may-run-out-of-memory",
    "warning",
    what="The peak of this example's training step is so near the budget that the error of the prediction decides.",
    why="The step may fit or may run out of memory: the prediction is not better than its band.",
    remedy="Leave it more room, or measure one step of this length and compare.",
    example=_EXAMPLE,
)
def may_run_out(judged: Judged) -> Iterator[Finding]:
    """Rows whose band of peaks holds the budget."""
    memory, budget = judged.memory, judged.plan.budget
    if memory is None or budget is None:
        return
    for row in _rows(judged, (memory.low <= budget) & (memory.high > budget)):
        low, high = (judged.figure(format_bytes(int(end[row]))) for end in (memory.low, memory.high))
        message = f"{_step(judged, row)} between {low} and {high}: the budget of {format_bytes(budget)} lies inside"
        yield _finding(judged, memory, budget, row, message)
