"""Judge: measurements and a plan in, findings out. Pure, over columns, and quick enough to ask again."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lint_dataset.diagnostics import Diagnostic
from lint_dataset.plan import Plan
from lint_dataset.reach import Losses, Reach, reach
from lint_dataset.rows import Ints, Rows
from lint_dataset.rules import Judged, all_rules

if TYPE_CHECKING:
    import pyarrow as pa

    from lint_dataset.memory import StepMemory


def heaviest_clips(rows: Rows) -> tuple[Ints, NDArray[np.float64]]:
    """How many audio clips each row has, and the seconds of its longest (0 where none is known)."""
    media = rows.media
    clips = media.sum_by_row(media.audio.astype(np.int64), len(rows))
    seconds = np.zeros(len(rows))
    heard = media.audio & ~np.isnan(media.seconds)
    np.maximum.at(seconds, media.row[heard], media.seconds[heard])
    return clips, seconds


def look(table: pa.Table, plan: Plan, memory: StepMemory | None, estimated: bool = False) -> Judged:
    """What the rules look at: the rows of the table as columns, what reaches the device, and each row's peak.

    ``estimated`` says that the table's tokens are no counts.
    """
    rows = Rows.of(table)
    kept = reach(rows, plan)
    verdicts = None
    if memory is not None:
        clips, seconds = heaviest_clips(rows)
        verdicts = memory.verdicts(kept.step, in_loss(kept, plan), clips, seconds, plan.budget)
    return Judged(rows, plan, kept, Losses.of(rows, plan, kept), verdicts, rows.faults(), estimated)


def in_loss(kept: Reach, plan: Plan) -> Ints:
    """Tokens in the loss of the step that holds a row: in a packed one, its neighbours' too, up to all of them."""
    return kept.supervised if plan.packing == "none" else np.maximum(kept.supervised, kept.step)


def judge(judged: Judged, codes: Collection[str]) -> list[Diagnostic]:
    """Run the rules of these codes: their findings, sorted by path, line and code."""
    paths = judged.rows.table.column("path")
    lines = judged.rows.table.column("line")
    diagnostics = []
    for rule in all_rules().values():
        if rule.code in codes:
            for row, message, remedy, data, severity in rule.check(judged):
                path, line = paths[row].as_py(), lines[row].as_py()
                diagnostics.append(Diagnostic(rule.code, severity or rule.severity, path, line, message, remedy, data))
    return sorted(diagnostics, key=lambda d: (d.path, d.line, d.code))
