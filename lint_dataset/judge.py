"""Judge: measurements and a plan in, findings out. Pure, over columns, and quick enough to ask again."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from lint_dataset.diagnostics import Diagnostic, Severity
from lint_dataset.plan import Plan
from lint_dataset.reach import Losses, Reach, reach
from lint_dataset.rows import Ints, Rows
from lint_dataset.rules import Judged, all_rules
from lint_dataset.switches import as_read

if TYPE_CHECKING:
    import pyarrow as pa

    from lint_dataset.memory import StepMemory

#: How many findings of a code are listed for each file. More than anyone reads, and little enough to hold in memory.
LISTED = 10_000
#: What cuts and memory find depends on the plan, and is weighed finding by finding where tokens are estimated.
_OF_A_ROW = ("J", "S", "M", "A")


def heaviest_clips(rows: Rows) -> tuple[Ints, NDArray[np.float64]]:
    """How many audio clips each row has, and the seconds of its longest (0 where none is known)."""
    media = rows.media
    clips = media.sum_by_row(media.audio.astype(np.int64), len(rows))
    seconds = np.zeros(len(rows))
    heard = media.audio & ~np.isnan(media.seconds)
    np.maximum.at(seconds, media.row[heard], media.seconds[heard])
    return clips, seconds


def look(
    table: pa.Table,
    plan: Plan,
    memory: StepMemory | None,
    estimated: bool = False,
    template: str | None = None,
    processor: str | None = None,
) -> Judged:
    """What the rules look at: the rows of the table as columns, what reaches the device, and each row's peak.

    ``estimated`` says that the table's tokens are no counts, ``template`` is the text of the chat template,
    ``processor`` the name of the processor's class.
    """
    rows = as_read(Rows.of(table), plan.trainer)
    kept = reach(rows, plan)
    verdicts = None
    if memory is not None:
        clips, seconds = heaviest_clips(rows)
        trained = in_loss(kept, plan)
        verdicts = memory.verdicts(kept.step, trained, clips, seconds, plan.budget)
        if plan.pad_to_max_length and verdicts.longest_that_fits is not None:
            # What a max_length may be at most, since it is rounded up to what steps are padded to.
            fits = verdicts.longest_that_fits // plan.preset.pad_multiple * plan.preset.pad_multiple
            verdicts = replace(verdicts, longest_that_fits=fits or None)
        if plan.budget is not None and (verdicts.longest_that_fits or 0) < int(rows.tokens.max(initial=0)):
            from lint_dataset.memory import longest_with

            beside = verdicts.clips_beside, verdicts.seconds_beside
            verdicts = replace(verdicts, longest_with=longest_with(memory, plan.budget, *beside))
        if plan.budget is not None and plan.batch_size > 1 and (verdicts.high > plan.budget).any():
            from lint_dataset.memory import batch_that_fits

            row = int(verdicts.peak.argmax())
            example = int(kept.step[row]), int(trained[row]), int(clips[row]), float(seconds[row])
            verdicts = replace(verdicts, batch_that_fits=batch_that_fits(memory, plan.budget, *example))
    losses = Losses.of(rows, plan, kept)
    return Judged(rows, plan, kept, losses, verdicts, rows.faults(), estimated, template, processor)


def in_loss(kept: Reach, plan: Plan) -> Ints:
    """Tokens in the loss of the step that holds a row: in a packed one, its neighbours' too, up to all of them."""
    return kept.supervised if plan.packing == "none" else np.maximum(kept.supervised, kept.step)


class Places(Sequence[tuple[str, int]]):
    """Path and line of many findings, each kept as the number of its row."""

    def __init__(self, table: pa.Table) -> None:
        """No findings yet in the rows of a table."""
        self.rows = array("q")
        self._table = table

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> tuple[str, int]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[str, int]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, int] | Sequence[tuple[str, int]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = self.rows[index]
        return self._table.column("path")[row].as_py(), self._table.column("line")[row].as_py()


@dataclass(frozen=True)
class Findings:
    """What was found: diagnostics sorted by path, line and code, and what a list cannot hold.

    ``unlisted`` has the rows of further findings by code and severity: of what only concerns a row itself no more than
    ``LISTED`` findings of a code are listed for each file.
    """

    diagnostics: list[Diagnostic]
    unlisted: dict[tuple[str, Severity], Places]

    def counts(self) -> Counter[tuple[str, Severity]]:
        """How many findings there are of each code and severity, listed or not."""
        counts = Counter((diagnostic.code, diagnostic.severity) for diagnostic in self.diagnostics)
        counts.update({found: len(rows) for found, rows in self.unlisted.items()})
        return counts

    def but(self, diagnostics: Iterable[Diagnostic]) -> Findings:
        """The same with other diagnostics."""
        return Findings(sorted(diagnostics, key=_order), self.unlisted)


def judge(judged: Judged, codes: Collection[str]) -> list[Diagnostic]:
    """Run the rules of these codes: their findings, as far as they are listed, sorted by path, line and code."""
    return find(judged, codes).diagnostics


def find(judged: Judged, codes: Collection[str]) -> Findings:
    """Run the rules of these codes."""
    import pyarrow.compute as pc

    paths = pc.dictionary_encode(judged.rows.table.column("path").combine_chunks())
    names, file_of = paths.dictionary.to_pylist(), paths.indices.to_numpy()
    lines = judged.rows.table.column("line").to_numpy()
    findings = Findings([], {})
    for rule in all_rules().values():
        if rule.code not in codes:
            continue
        listed: Counter[int] = Counter()
        for row, message, remedy, data, severity in rule.check(judged):
            file = int(file_of[row])
            listed[file] += 1
            severity = severity or rule.severity
            if listed[file] > LISTED and rule.code.startswith(_OF_A_ROW):
                places = findings.unlisted.setdefault((rule.code, severity), Places(judged.rows.table))
                places.rows.append(row)
            else:
                place = names[file], int(lines[row])
                findings.diagnostics.append(Diagnostic(rule.code, severity, *place, message, remedy, data))
    findings.diagnostics.sort(key=_order)
    return findings


def _order(diagnostic: Diagnostic) -> tuple[str, int, str]:
    return diagnostic.path, diagnostic.line, diagnostic.code
