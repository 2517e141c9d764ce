"""The peak memory of a plan's training steps, over columns of examples."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lint_dataset.measured_peak import MeasuredPeak
from lint_dataset.memory import evidence
from lint_dataset.memory.accumulation import accumulating
from lint_dataset.memory.allocator import OutOfMemory, rounded
from lint_dataset.memory.audio import mel_frames, whole_frames
from lint_dataset.memory.curve import MOST_BYTES, Curve, Table, classify, sizes, table
from lint_dataset.memory.devices import Device
from lint_dataset.memory.devices import of as device_of
from lint_dataset.memory.obtain import obtain
from lint_dataset.memory.optimizers import states
from lint_dataset.memory.parts import complete, living_parts
from lint_dataset.memory.program import VARIABLES, StepProgram
from lint_dataset.memory.reading import Calibrated, Reading, largest
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.replay import Loading, Process, tensor_bytes
from lint_dataset.plan import Plan
from lint_dataset.sizes import format_bytes
from lint_dataset.usage import UsageError

Ints = NDArray[np.int64]

#: Up to so many different steps are replayed when their peaks are asked for; of more, the memory that the allocator
#: holds beyond the curve is interpolated between replays.
EXACT = 4
#: The lengths of those replays. Odd, as most lengths are: powers of two waste less of the allocator's 2 MiB steps.
_ANCHORS = tuple(22 * 4**k + 1 for k in range(9))
#: How much more than what its tensors hold a step is taken to reserve at most, until a replay says otherwise.
_SLACK = 0.15
#: Lengths that are tried between what fits for certain and what cannot fit, before the last ones are halved.
_TRIES = 4
_LONGEST = 2**20
_CLIPS = VARIABLES.index("clips")


@dataclass(frozen=True)
class Verdicts:
    """The peaks of rows, in bytes of the whole process; 0 for a row of which nothing reaches the device.

    ``low`` and ``high`` bound the peak by the evidence there is: above the budget with ``low`` a row runs out of
    memory, above it with ``high`` only it may. ``replayed`` marks rows whose own step went through the allocator.
    ``longest_that_fits`` are the tokens of the longest step, all of them supervised, that fits for certain beside the
    heaviest audio that one of the rows has: ``clips_beside`` clips of up to ``seconds_beside``. None without a budget
    or when none fits. ``batch_that_fits`` is the largest smaller batch of the heaviest row that fits for certain, where
    the plan's does not; ``longest_with`` are longer steps that fit, by the options that let them (see ``lighter.py``).
    """

    peak: Ints
    low: Ints
    high: Ints
    replayed: NDArray[np.bool_]
    basis: str
    longest_that_fits: int | None
    clips_beside: int = 0
    seconds_beside: float = 0.0
    batch_that_fits: int | None = None
    longest_with: Mapping[str, int] = field(default_factory=dict)


class StepMemory:
    """Peaks of the steps of one plan. Each row stands for a batch of ``plan.batch_size`` examples like it."""

    def __init__(self, plan: Plan, recipe: Recipe, programs: tuple[StepProgram, ...]) -> None:
        """From the programs of the plan's recipe: see :meth:`of`."""
        self.plan, self.recipe = plan, recipe
        self.curve = Curve(programs)
        self.device: Device = device_of(plan)
        self._found: dict[tuple[int, bool, int], int] = {}
        self._replays: dict[tuple[tuple[int, ...], int | None], tuple[int, int] | None] = {}
        self.reading = self._calibrated(plan.calibrate) if plan.calibrate is not None else self._plain()

    @classmethod
    def of(cls, plan: Plan, cache_dir: str | os.PathLike[str] | None = None, *, trace: bool = True) -> StepMemory:
        """The memory of a plan that names a model.

        Its step program is shipped, or in the user's cache (under ``cache_dir`` if given), or, if ``trace`` says so,
        traced now where torch and peft are installed, which says so on standard error. Raises ``NoStepProgram``, and
        ``UsageError`` where the plan is calibrated by a peak that cannot be one of its steps.
        """
        recipe, programs = obtain(plan, cache_dir, trace=trace)
        if plan.gradient_accumulation > 1:
            programs = tuple(accumulating(program) for program in programs)
        return cls(plan, recipe, programs)

    @property
    def hears(self) -> bool:
        """Whether audio clips are inputs of the plan's step programs."""
        return any(program.bounds.get("clips", (0, None))[1] != 0 for program in self.curve.programs)

    def rows(self, tokens: ArrayLike, supervised: ArrayLike, clips: ArrayLike = 0, seconds: ArrayLike = 0.0) -> Table:
        """The variables of the steps of some examples: see ``curve.table``.

        ``supervised`` are the tokens of one example that the loss is computed on, ``clips`` its audio clips and
        ``seconds`` the length of its longest.
        """
        batch = self.plan.batch_size
        clips = np.asarray(clips, np.int64)
        return table(
            {
                "batch": batch,
                "tokens": tokens,
                "rank": self.plan.lora_rank,
                "supervised": np.asarray(supervised, np.int64) * batch,
                "clips": clips * batch,
                "frames": np.where(clips > 0, whole_frames(mel_frames(seconds)), 0),
            }
        )

    def allocated(self, rows: Table) -> Ints:
        """Peak bytes that the tensors of each row's step hold, weights and states included."""
        fixed: Ints = self._fixed[classify(self.curve.programs, rows)]
        return self.curve(rows) + fixed

    def peak(self, tokens: ArrayLike, supervised: ArrayLike, clips: ArrayLike = 0, seconds: ArrayLike = 0.0) -> Ints:
        """Peak bytes of the process for each row, whatever the budget: what is reserved, and the context."""
        rows, back = self.curve.distinct(self.rows(tokens, supervised, clips, seconds))
        peaks: Ints = self.reading.peak(self._reserved(rows, self.allocated(rows))[0] + self.device.context)
        return peaks[back]

    def verdicts(
        self,
        tokens: ArrayLike,
        supervised: ArrayLike,
        clips: ArrayLike = 0,
        seconds: ArrayLike = 0.0,
        budget: int | None = None,
    ) -> Verdicts:
        """Judge rows by a budget in bytes. Rows of no tokens need nothing.

        Near the budget steps are replayed within it, giving cached memory back as PyTorch does before it fails. So a
        row that fits only by that has its peak at the budget, even where it would have reserved more. A row is judged
        by what its tensors hold, compared with the longest replayed step that fits: rows as long as
        ``longest_that_fits`` or shorter are never said to be over.
        """
        asked = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x)) for x in (tokens, supervised, clips, seconds)))
        reaching = np.flatnonzero(asked[0] > 0)
        predicted, replayed = np.zeros(len(asked[0]), np.int64), np.zeros(len(asked[0]), np.bool_)
        if len(reaching):
            rows, back = self.curve.distinct(self.rows(*(column[reaching] for column in asked)))
            peaks, tried = self._judge(rows, budget)
            predicted[reaching], replayed[reaching] = peaks[back], tried[back]
        clips_beside, seconds_beside = _heaviest_audio(asked[2], asked[3])
        return Verdicts(
            peak=np.where(asked[0] > 0, self.reading.peak(predicted), 0),
            low=np.where(asked[0] > 0, self.reading.low(predicted), 0),
            high=np.where(asked[0] > 0, self.reading.high(predicted), 0),
            replayed=replayed,
            basis=self.reading.band.basis,
            longest_that_fits=None if budget is None else self.longest_that_fits(budget, clips_beside, seconds_beside),
            clips_beside=clips_beside,
            seconds_beside=seconds_beside,
        )

    def parts(self, tokens: int, supervised: int, clips: int = 0, seconds: float = 0.0) -> dict[str, int]:
        """What the peak of one row is made of: bytes by part, which add up to its peak under the plan's budget."""
        row = self.rows(tokens, supervised, clips, seconds)
        at = self.curve.peak(row[0])
        parts = living_parts(at.program, sizes(at.program, row[0].tolist()), at.event)
        parts["weights"] = self._weights(at.program)
        parts["optimizer"] += self._states(at.program)
        predicted = int(self._judge(self.curve.distinct(row)[0], self.plan.budget)[0][0])
        shift = int(self.reading.peak(predicted)) - predicted
        return complete(parts, predicted) | ({"calibration": shift} if self.plan.calibrate is not None else {})

    def longest_that_fits(self, budget: int, clips: int = 0, seconds: float = 0.0) -> int | None:
        """Tokens of the longest step, all supervised, that fits a budget even at the band's top.

        Each example holds ``clips`` audio clips of up to ``seconds``. Every shorter step that was tried fits as well.
        None when not even a step of one token fits.
        """
        limit, with_audio = self._inside(budget), min(clips, 1)
        longest = self._longest(limit, certain=True, clips=with_audio)
        if not clips or not longest:
            return longest or None
        # The replays hold one whole clip an example. Other audio is compared by the bytes it holds, as rows are.
        most = int(self.allocated(self._full(longest, with_audio))[0]) if self.device.caching else limit
        return self._longest_held(most, clips, seconds) or None

    def replay(self, row: NDArray[np.int64], limit: int | None = None) -> tuple[int, int] | None:
        """Peak reserved and peak allocated bytes of a process that runs the step of one row twice.

        The first step leaves the optimizer's states where it found room. None when it runs out of memory within
        ``limit`` bytes of reserved memory.
        """
        key = (tuple(row.tolist()), limit)
        if key not in self._replays:
            self._replays[key] = self.run([row, row], limit)
        return self._replays[key]

    def run(self, steps: Iterable[NDArray[np.int64]], limit: int | None = None) -> tuple[int, int] | None:
        """Peak reserved and peak allocated bytes of a process that runs steps of any lengths, in this order.

        Each step is a row of ``rows``. None when one runs out of memory within ``limit`` bytes of reserved memory.
        """
        rows = list(steps)
        programs = [self.curve.programs[int(classify(self.curve.programs, row[None])[0])] for row in rows]
        # The weights are the same in every class of steps; what is trained is not: without a clip, no audio adapter.
        most = max(programs, key=self._states)
        loading = Loading(mapped=self.plan.trainer == "trl")
        try:
            process = Process(
                most.groups,
                self.plan.lora_rank,
                self.device,
                limit,
                loading=loading,
                optimizer=self.plan.optimizer,
                expandable=self.plan.expandable_segments,
            )
            for row, program in zip(rows, programs, strict=True):
                process.step(program, sizes(program, row.tolist()))
        except OutOfMemory:
            return None
        return process.allocator.peak_reserved, process.allocator.peak_allocated

    def _weights(self, program: StepProgram) -> int:
        rank = self.plan.lora_rank
        return sum(rounded(size) for group in program.groups for size in tensor_bytes(group, rank))

    def _states(self, program: StepProgram) -> int:
        return sum(rounded(size) for size in states(self.plan.optimizer, program.groups, self.plan.lora_rank))

    @cached_property
    def _fixed(self) -> Ints:
        """Of each program, what lives as long as training does."""
        workspaces = 2 * rounded(self.device.workspace)
        return np.array([self._weights(p) + self._states(p) + workspaces for p in self.curve.programs], np.int64)

    @property
    def band(self) -> evidence.Band:
        """How far the real peaks may lie from those that are given (at the measured point, where there is one)."""
        return self.reading.band

    def _plain(self) -> Reading:
        band = evidence.band(self.recipe, self.plan)
        spare = self.device.context - self.device.least_context
        if spare and self.device.caching:
            # An unnamed card: its context lies between those that were measured.
            least, most = format_bytes(self.device.least_context), format_bytes(self.device.context)
            band = replace(band, basis=f"{band.basis}; the card's CUDA context takes {least} to {most}")
        return Reading(band, spare)

    def _calibrated(self, text: str) -> Calibrated:
        """The reading of peaks by one that was measured, of which every token was supervised."""
        measured = MeasuredPeak.parse(text)
        plain = self.plan.but(calibrate=None, batch_size=measured.batch)
        memory = StepMemory(plain, self.recipe, self.curve.programs)
        row = memory.rows(measured.tokens, measured.tokens)
        predicted = int(memory.peak(measured.tokens, measured.tokens)[0])
        fixed = int(memory._fixed[classify(self.curve.programs, row)[0]]) + self.device.least_context
        if measured.size <= fixed:
            raise UsageError(
                f"calibrate {text}: the process of this plan holds {format_bytes(fixed)} before its first token: "
                "measure the peak of the whole process, or compare the plan (--show-plan) with the run"
            )
        off = 100 * (measured.size / predicted - 1)
        basis = (
            f"calibrated on your run: {measured}, {abs(off):.1f} % {'more' if off > 0 else 'less'} than the "
            f"{format_bytes(predicted)} predicted"
        )
        if abs(off) > 25:
            basis += ". That far off, the run may not have been this plan: compare it with --show-plan"
        return Calibrated(
            evidence.calibrated(self.recipe, self.plan, basis),
            0,
            fixed,
            predicted,
            measured.size,
        )

    def _inside(self, budget: int) -> int:
        """What the allocator may reserve so that the peak fits the budget even at the top of its band."""
        return largest(self.reading.high, budget) - self.device.context

    def _outside(self, budget: int) -> int:
        """What it may reserve so that the peak fits the budget at the bottom of its band."""
        return largest(self.reading.low, budget) - self.device.context

    def _reserved(self, rows: Table, allocated: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Peak reserved bytes of each row without a limit, and which of them were replayed."""
        if not self.device.caching:
            return allocated, np.zeros(len(rows), np.bool_)
        if len(rows) <= EXACT:
            return np.array([self._exact(row) for row in rows]), np.ones(len(rows), np.bool_)
        beyond = np.zeros(len(rows))
        for with_audio in (False, True):
            mine = (rows[:, _CLIPS] > 0) == with_audio
            if mine.any():
                beyond[mine] = self._beyond(allocated[mine], with_audio)
        return allocated + beyond.astype(np.int64), np.zeros(len(rows), np.bool_)

    def _beyond(self, allocated: Ints, with_audio: bool) -> NDArray[np.float64]:
        """What the allocator reserves beyond what tensors hold, interpolated over what they hold."""
        tokens = np.array(_ANCHORS)
        anchors = self._full(tokens, int(with_audio))
        held = np.maximum.accumulate(self.allocated(anchors))
        after = np.searchsorted(held, allocated)
        needed = np.unique(np.clip(np.concatenate([after - 1, after]), 0, len(anchors) - 1))
        found = [self._exact(anchors[i]) - held[i] for i in needed.tolist()]
        beyond: NDArray[np.float64] = np.interp(allocated, held[needed], found)
        return beyond

    def _exact(self, row: NDArray[np.int64]) -> int:
        found = self.replay(row)
        assert found is not None, "without a limit nothing runs out of memory"
        return min(found[0], 2 * MOST_BYTES)

    def _judge(self, rows: Table, budget: int | None) -> tuple[Ints, NDArray[np.bool_]]:
        """The peak of each of some distinct rows under a budget, and which of them were replayed."""
        allocated = self.allocated(rows)
        reserved, replayed = self._reserved(rows, allocated)
        top = int(allocated.argmax())
        if self.device.caching and not replayed[top]:
            # The most expensive row is shown with its parts: it is always replayed, and no other comes out above it.
            reserved = np.minimum(reserved, self._exact(rows[top]) - 1)
            reserved[top], replayed[top] = self._exact(rows[top]), True
        if budget is not None:
            for limit, certain in ((self._inside(budget), True), (self._outside(budget), False)):
                fits = allocated <= self._holds(rows, allocated, limit, certain)
                reserved = np.where(fits, np.minimum(reserved, limit), np.maximum(reserved, limit + 1))
        return reserved + self.device.context, replayed

    def _holds(self, rows: Table, allocated: Ints, limit: int, certain: bool) -> Ints:
        """For each row what tensors may hold at most for its step to fit within ``limit`` reserved bytes."""
        most = np.full(len(rows), limit)
        if not self.device.caching or (allocated * (1 + _SLACK) <= limit).all() or (allocated > limit).all():
            return most
        for clips in np.unique(np.minimum(rows[:, _CLIPS], 1)).tolist():
            tokens = self._longest(limit, certain, clips)
            held = int(self.allocated(self._full(tokens, clips))[0]) if tokens else -1
            most[np.minimum(rows[:, _CLIPS], 1) == clips] = held
        return most

    def _full(self, tokens: ArrayLike, clips: int, seconds: float = 30.0) -> Table:
        """Steps of some lengths with every token supervised, with so many clips an example."""
        return self.rows(tokens, tokens, clips, seconds)

    def _longest(self, limit: int, certain: bool, clips: int) -> int:
        """Tokens of the longest step that fits within ``limit`` reserved bytes; 0 when none does.

        What the allocator reserves jumps up and down with the length. ``certain`` is the length up to which every tried
        step fits, otherwise it is the longest tried step that fits at all.
        """
        key = (limit, certain, clips)
        if key not in self._found:
            self._found[key] = self._search(limit, certain, clips)
        return self._found[key]

    def _search(self, limit: int, certain: bool, clips: int) -> int:
        top = self._longest_held(limit, clips)
        if top == 0 or not self.device.caching:
            return top

        def fits(tokens: int) -> bool:
            return tokens == 0 or self.replay(self._full(tokens, clips)[0], limit) is not None

        sure = self._longest_held(int(limit / (1 + _SLACK)), clips)
        if not fits(sure):
            sure = 0
        tries = np.unique(np.linspace(sure, top, _TRIES + 1).astype(int)).tolist()
        good, bad = sure, top + 1
        for tokens in tries[1:] if certain else tries[:0:-1]:
            if fits(tokens):
                good = tokens
            else:
                bad = tokens
            if fits(tokens) != certain:
                break
        while bad - good > max(1, bad // 256):
            middle = (good + bad) // 2
            good, bad = (middle, bad) if fits(middle) else (good, middle)
        return good

    def _longest_held(self, limit: int, clips: int, seconds: float = 30.0) -> int:
        """Tokens of the longest step whose tensors hold no more than ``limit`` bytes; 0 when none does."""
        low, high = 0, _LONGEST + 1
        while high - low > 1:
            middle = (low + high) // 2
            held = int(self.allocated(self._full(middle, clips, seconds))[0])
            low, high = (middle, high) if held <= limit else (low, middle)
        return low


def _heaviest_audio(clips: NDArray[Any], seconds: NDArray[Any]) -> tuple[int, float]:
    """The clips and the length of the longest in the row whose padded audio is the largest; NaN is a whole clip."""
    if not len(clips) or not clips.max():
        return 0, 0.0
    heard = np.where(np.isnan(seconds), 30.0, seconds)
    row = int((clips * heard).argmax())
    return int(clips[row]), float(heard[row])
