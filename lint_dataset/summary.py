"""The run in numbers: tokens, the most expensive row, what fits and what cutting there would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lint_dataset.diagnostics import Severity
from lint_dataset.judge import heaviest_clips, in_loss
from lint_dataset.reach import Losses, reach, too_long
from lint_dataset.result import Cuts, Fits, LongestRow, Summary
from lint_dataset.rows import Ints
from lint_dataset.rules import Judged

if TYPE_CHECKING:
    from lint_dataset.memory import StepMemory


def summarise(
    judged: Judged, found: Mapping[tuple[str, Severity], int], memory: StepMemory | None, files: int
) -> Summary:
    """The summary of judged rows. Rows about a file as a whole (those without a hash) are not examples."""
    examples = len(judged.rows) - judged.rows.table.column("hash").null_count
    tokens = judged.rows.tokens[judged.rows.measured]
    counts: Counter[str] = Counter()
    for (code, _), number in found.items():
        counts[code] += number
    return Summary(
        files=files,
        examples=examples,
        measured=len(tokens),
        tokens=_percentiles(tokens),
        counts={code: counts[code] for code in sorted(counts)},
        longest_row=_longest_row(judged, memory),
        longest_that_fits=_fits(judged),
        by_default=by_default(judged),
    )


def what_if(judged: Judged, max_length: int) -> Cuts:
    """What another ``max_length`` would do to the rows, under the same plan."""
    plan = judged.plan.but(max_length=max_length)
    then = reach(judged.rows, plan)
    losses = Losses.of(judged.rows, plan, then)
    row = judged.rows.answers.row
    # Rows that are left out for their length, under the judged limit too; not those that are so for another reason.
    otherwise = (judged.reach.dropped | judged.reach.stops) & ~too_long(judged.rows, judged.plan)
    dropped = (then.dropped | then.stops) & too_long(judged.rows, plan) & ~otherwise
    unseen = np.setdiff1d(row[losses.gone], np.flatnonzero(dropped))
    cut = np.setdiff1d(row[losses.cut], np.append(unseen, np.flatnonzero(dropped)))
    return Cuts(max_length, len(cut), len(unseen), int(dropped.sum()))


def by_default(judged: Judged) -> Cuts | None:
    """What the trainer's own ``max_length`` would do to the rows, where none is given and it has one."""
    limit = judged.plan.preset.max_length
    if judged.plan.origins["max_length"] != "not given" or limit is None or not judged.rows.measured.any():
        return None
    return what_if(judged, limit)


def _percentiles(tokens: Ints) -> dict[str, int]:
    if not len(tokens):
        return {}
    # The nearest rank: a length that some example really has.
    p50, p90, p99 = (int(v) for v in np.percentile(tokens, [50, 90, 99], method="inverted_cdf"))
    return {
        "least": int(tokens.min()),
        "p50": p50,
        "p90": p90,
        "p99": p99,
        "most": int(tokens.max()),
        "sum": int(tokens.sum()),
    }


def _longest_row(judged: Judged, memory: StepMemory | None) -> LongestRow | None:
    if memory is None or judged.memory is None or not (judged.memory.peak > 0).any():
        return None
    row = int(judged.memory.peak.argmax())
    clips, seconds = heaviest_clips(judged.rows)
    tokens, supervised = int(judged.reach.step[row]), int(in_loss(judged.reach, judged.plan)[row])
    return LongestRow(
        path=judged.rows.table.column("path")[row].as_py(),
        line=judged.rows.table.column("line")[row].as_py(),
        tokens=tokens,
        peak=int(judged.memory.peak[row]),
        parts=memory.parts(tokens, supervised, int(clips[row]), float(seconds[row])),
    )


def _fits(judged: Judged) -> Fits | None:
    if judged.memory is None or judged.plan.budget is None or not judged.rows.measured.any():
        return None
    tokens = judged.memory.longest_that_fits
    if tokens is None:
        return Fits(None, 0, 0, lighter=judged.memory.longest_with)
    cuts = what_if(judged, tokens)
    beside = judged.memory.clips_beside, judged.memory.seconds_beside
    return Fits(tokens, cuts.cut, cuts.unseen, *beside, cuts.dropped, judged.memory.longest_with)
