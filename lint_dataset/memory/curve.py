"""The memory curve: the most bytes that the storages of a step hold at once, for millions of rows.

At each moment of a step a number of storages of each kind is alive, whatever their sizes. So the peak of a row is the
largest of the products of those counts with the row's sizes. Few moments can be the largest in a narrow range of
tokens: rows are evaluated range by range, and the moments that bounds on the sizes rule out are left out.

All arithmetic is exact as long as a peak stays under 2**53 blocks of 512 bytes and a size under 2**53 bytes (9
petabytes): floating point then holds every intermediate integer, and BLAS multiplies them. Above ``MOST_BYTES``
nothing is told apart any more: every peak beyond is that one, so that no product of sizes wraps around to a small one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lint_dataset.memory.allocator import MIN_BLOCK
from lint_dataset.memory.program import VARIABLES, StepProgram

#: More than any device has or any budget may be (``plan.MOST``), and half of what an int64 holds: sums still fit.
MOST_BYTES = 2**61
#: Rows evaluated together: few enough that their sizes stay in the processor's cache.
_ROWS = 16384
#: A range of tokens ends where it has grown by this factor.
_GROWTH = 1.25
#: So many possible rows are told apart by marking those that occur.
_MARKS = 2**22

_TOKENS = VARIABLES.index("tokens")
#: There is no step without an example or a token.
_LEAST = np.array([1 if name in ("batch", "tokens", "rank") else 0 for name in VARIABLES], np.int64)

Table = NDArray[np.int64]


def table(columns: Mapping[str, Any]) -> Table:
    """The variables of steps as a matrix (rows, variables) in the order of ``VARIABLES``.

    Columns are numbers or arrays of one length; what is absent is 0, but ``batch``, ``tokens`` and ``rank`` are at
    least 1.
    """
    filled = [np.asarray(columns.get(name, 0), dtype=np.int64) for name in VARIABLES]
    # Each column in one piece of memory, since columns are what is worked on.
    by_column = np.stack(np.broadcast_arrays(*filled)).reshape(len(VARIABLES), -1)
    rows: Table = np.maximum(by_column, _LEAST[:, None]).T
    return rows


def sizes(program: StepProgram, values: Sequence[int]) -> list[int]:
    """The bytes of each kind of storage, before rounding, for the values of ``VARIABLES`` in order."""
    monomials = [_product(values, powers) for powers in program.powers.tolist()]
    return [sum(c * m for c, m in zip(row, monomials, strict=True) if c) for row in program.coefficients.tolist()]


def _product(values: Sequence[int], powers: Sequence[int]) -> int:
    product = 1
    for value, power in zip(values, powers, strict=True):
        product *= int(value) ** power
    return product


def classify(programs: Sequence[StepProgram], rows: Table) -> NDArray[np.intp]:
    """For each row the index of the program whose bounds hold, the first of those that break fewest otherwise."""
    broken = np.zeros((len(programs), len(rows)), np.int8)
    for i, program in enumerate(programs):
        for name, (least, most) in program.bounds.items():
            column = rows[:, VARIABLES.index(name)]
            broken[i] += column < least
            if most is not None:
                broken[i] += column > most
    first: NDArray[np.intp] = broken.argmin(axis=0)
    return first


@dataclass(frozen=True)
class Moments:
    """The moments of a program that can be its peak: those at which a birth is followed by a death.

    ``counts`` (moments, kinds) are the storages alive at each, ``events`` the index of the event each comes with.
    """

    counts: NDArray[np.float64]
    events: NDArray[np.intp]

    @classmethod
    def of(cls, program: StepProgram) -> Moments:
        """Count the living at every moment, keeping one moment of those with equal counts."""
        alive = alive_counts(program)
        birth = program.events >= 0
        at = np.flatnonzero(birth & ~np.append(birth[1:], False))
        counts, first = np.unique(alive[at], axis=0, return_index=True)
        return cls(counts.astype(np.float64), at[first])


def kinds_of_events(program: StepProgram) -> NDArray[np.intp]:
    """For each event the kind of the storage that it creates or ends."""
    events = program.events.astype(np.intp)
    birth = events >= 0
    born = np.cumsum(birth)
    kinds: NDArray[np.intp] = events[birth][np.where(birth, born - 1, born + events)]
    return kinds


def alive_counts(program: StepProgram) -> NDArray[np.int32]:
    """Storages alive after each event, by kind: (events, kinds)."""
    changes = np.zeros((len(program.events), len(program.coefficients)), np.int32)
    changes[np.arange(len(program.events)), kinds_of_events(program)] = np.where(program.events >= 0, 1, -1)
    return np.cumsum(changes, axis=0, dtype=np.int32)


class Peak(NamedTuple):
    """The peak of one row: its bytes, the program that gives it, and the event after which it stands."""

    bytes: int
    program: StepProgram
    event: int


class Curve:
    """The upper envelope of the live bytes of a recipe's programs, rounded as the allocator rounds each storage."""

    def __init__(self, programs: Sequence[StepProgram]) -> None:
        """Prepare the programs of one recipe, one per class of steps."""
        self.programs = tuple(programs)
        self._moments: dict[int, Moments] = {}

    def __call__(self, rows: Table) -> NDArray[np.int64]:
        """Peak live bytes of each row of a ``table``: what the step's own storages hold, without the weights."""
        result = np.zeros(len(rows), np.int64)
        which = classify(self.programs, rows)
        for i in np.unique(which):
            chosen = slice(None) if len(self.programs) == 1 else which == i
            result[chosen] = self._evaluate(int(i), rows[chosen])
        return result

    def peak(self, row: NDArray[np.int64]) -> Peak:
        """Where in the step one row has its peak."""
        i = int(classify(self.programs, row[None])[0])
        program, moments = self.programs[i], self._of(i)
        blocks = np.array([-(-max(size, 0) // MIN_BLOCK) for size in sizes(program, row.tolist())], np.float64)
        live = moments.counts @ blocks
        # Of equal peaks the first in time.
        at = int(moments.events[live == live.max()].min())
        return Peak(min(int(live.max()) * MIN_BLOCK, MOST_BYTES), program, at)

    def distinct(self, rows: Table) -> tuple[Table, NDArray[np.intp]]:
        """The rows that differ in what a step depends on, shortest first, and for each row which of them it is.

        Variables that nothing depends on have their least value.
        """
        return _distinct(rows, self._matters(*self.programs))

    @staticmethod
    def _matters(*programs: StepProgram) -> list[int]:
        """The columns that some size or bound of the programs depends on, tokens first."""
        used = {i for program in programs for i in np.flatnonzero(program.powers.any(axis=0)).tolist()}
        if len(programs) > 1:
            used |= {VARIABLES.index(name) for program in programs for name in program.bounds}
        return [_TOKENS, *sorted(used - {_TOKENS})]

    def _of(self, i: int) -> Moments:
        if i not in self._moments:
            self._moments[i] = Moments.of(self.programs[i])
        return self._moments[i]

    def _evaluate(self, i: int, rows: Table) -> NDArray[np.int64]:
        program, moments = self.programs[i], self._of(i)
        # Data sets repeat lengths: each distinct row is evaluated once, shortest first.
        distinct, back = _distinct(rows, self._matters(program))
        # In one piece and compared with an integer, or each search would make a copy of it.
        tokens = distinct[:, _TOKENS].copy()
        live = np.empty(len(distinct), np.int64)
        start = 0
        while start < len(distinct):
            end = min(start + _ROWS, int(np.searchsorted(tokens, int(tokens[start] * _GROWTH), side="right")))
            chunk = distinct[start:end]
            low, high = _bounds(program, chunk)
            kept = moments.counts[_candidates(moments.counts, low, high)]
            used = np.flatnonzero(kept.any(axis=0))
            blocks = (kept[:, used] @ _blocks(program, chunk, used)).max(axis=0, initial=0)
            live[start:end] = np.minimum(blocks, MOST_BYTES // MIN_BLOCK)
            start = end
        return live[back] * MIN_BLOCK


def _distinct(rows: Table, order: Sequence[int]) -> tuple[Table, NDArray[np.intp]]:
    """The rows that differ in the columns of ``order``, sorted by them, and for each row which of them it is.

    Other columns have their least value.
    """
    if not len(rows):
        return rows, np.zeros(0, np.intp)
    least = [int(rows[:, i].min()) for i in order]
    spans = [int(rows[:, i].max()) - low + 1 for i, low in zip(order, least, strict=True)]
    possible = math.prod(spans)
    if possible > 2**62:
        sorting = np.lexsort([rows[:, i] for i in reversed(order)])
        return rows[sorting], np.argsort(sorting)
    # One integer a row sorts much faster than several; where few are possible, marking them is faster still.
    key = np.zeros(len(rows), np.int64)
    for i, low, span in zip(order, least, spans, strict=True):
        if span > 1:
            key *= span
            key += rows[:, i] - low
    if possible <= _MARKS:
        found = np.zeros(possible, np.bool_)
        found[key] = True
        keys, back = np.flatnonzero(found), (np.cumsum(found) - 1)[key]
    else:
        keys, back = np.unique(key, return_inverse=True)
    distinct = np.tile(_LEAST, (len(keys), 1))
    for i, low, span in reversed(list(zip(order, least, spans, strict=True))):
        keys, distinct[:, i] = np.divmod(keys, span)
        distinct[:, i] += low
    return distinct, back.reshape(-1)


def _monomials(program: StepProgram, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """(monomials, rows)"""
    columns = rows.T.astype(np.float64)
    result = np.ones((len(program.powers), len(rows)))
    for monomial, powers in zip(result, program.powers.tolist(), strict=True):
        for column, power in zip(columns, powers, strict=True):
            for _ in range(power):
                monomial *= column
    return result


def _blocks(program: StepProgram, rows: Table, kinds: NDArray[np.intp]) -> NDArray[np.float64]:
    """Blocks of 512 bytes that a storage of each of ``kinds`` takes: (kinds, rows)."""
    found = program.coefficients[kinds].astype(np.float64) @ _monomials(program, rows)
    found /= MIN_BLOCK
    np.ceil(found, out=found)
    return np.maximum(found, 0, out=found)


def _bounds(program: StepProgram, rows: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each kind the fewest and the most blocks that any of the rows may give it."""
    ends = np.stack([rows.min(axis=0), rows.max(axis=0)])
    least, most = _monomials(program, ends).T
    coefficients = program.coefficients.astype(np.float64)
    rising, falling = np.maximum(coefficients, 0), np.minimum(coefficients, 0)
    low = np.ceil((rising @ least + falling @ most) / MIN_BLOCK)
    high = np.ceil((rising @ most + falling @ least) / MIN_BLOCK)
    return np.maximum(low, 0), np.maximum(high, 0)


def _candidates(counts: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.intp]:
    """The moments that can be the peak of a row whose sizes lie between ``low`` and ``high``.

    A moment is out when another one is at least as large for all such sizes: when the bound of the difference, in which
    the storages that both have cancel, is not positive.
    """
    left = np.flatnonzero(counts @ high >= (counts @ low).max())
    chosen: list[int] = []
    middle = counts @ ((low + high) / 2)
    left = left[np.argsort(-middle[left], kind="stable")]
    while len(left):
        best = int(left[0])
        chosen.append(best)
        difference = counts[left] - counts[best]
        most = np.maximum(difference, 0) @ high + np.minimum(difference, 0) @ low
        left = left[most > 0]
    return np.array(chosen)
