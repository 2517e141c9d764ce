"""From traces to step programs: the order of events of each class, and the polynomial of every size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from lint_dataset.memory.program import VARIABLES, ParameterGroup, StepProgram
from lint_dataset.memory.trace.classes import FRAMES_REST, FRAMES_STEP, MOST_TRACES, StepClass
from lint_dataset.memory.trace.errors import TraceError
from lint_dataset.memory.trace.fit import Polynomial, Powers, evaluate, monomials, solve
from lint_dataset.memory.trace.losses import TILE_TOKENS
from lint_dataset.memory.trace.quantised import Linear4Bit
from lint_dataset.memory.trace.step import Trace, Tracer

#: While sizes are solved, coefficients count in these parts of a byte: audio is made shorter by a factor of 16, so that
#: a mask over it has a sixteenth of a byte a frame. A program's coefficients are whole bytes: such sizes are held up to
#: a byte a frame too high.
_PARTS = 16
_BATCH = VARIABLES.index("batch")
_ONE: Powers = (0,) * len(VARIABLES)


class Sizes:
    """Polynomials known so far of one model: a size that one of them gives exactly needs no more traces."""

    def __init__(self) -> None:
        """Start knowing nothing."""
        self._known: set[tuple[tuple[Powers, int], ...]] = set()

    def recall(self, step_class: StepClass, varying: set[str], point: Sequence[int]) -> dict[int, Polynomial | None]:
        """What is known of a class, by the bytes it gives at ``point``; None where two polynomials give the same."""
        found: dict[int, Polynomial | None] = {}
        for known in self._known:
            polynomial = _within(dict(known), varying, step_class.batch[1] == 1)
            if polynomial is None:
                continue
            size, rest = divmod(evaluate(polynomial, point), _PARTS)
            if rest:
                continue
            found[size] = polynomial if found.get(size, polynomial) == polynomial else None
        return found

    def learn(self, polynomials: Iterable[Polynomial]) -> None:
        """Remember polynomials that traces at several points have checked."""
        self._known.update(tuple(sorted(polynomial.items())) for polynomial in polynomials)


def _within(polynomial: Polynomial, varying: set[str], alone: bool) -> Polynomial | None:
    """The polynomial in a class where only some variables vary; None where it has others.

    In a batch of one (``alone``) the batch is a factor of one, so terms that differ in nothing else become one.
    """
    found: dict[Powers, int] = {}
    for powers, coefficient in polynomial.items():
        row = list(powers)
        if alone:
            row[_BATCH] = 0
        if any(power and name not in varying for name, power in zip(VARIABLES, row, strict=True)):
            return None
        found[tuple(row)] = found.get(tuple(row), 0) + coefficient
    return {row: coefficient for row, coefficient in found.items() if coefficient}


def fit(tracer: Tracer, step_class: StepClass, sizes: Sizes) -> tuple[Trace, list[Polynomial]]:
    """The order of events of a class and the polynomial of each birth (in parts), from as few traces as settle them.

    Raises TraceError when the order differs within the class, or a size is no polynomial.
    """
    lora = tracer.recipe.method != "full"
    varying = step_class.varying(lora)
    point = step_class.point(0)
    traces, points = [tracer.trace(point)], [astuple(point)]
    recalled = sizes.recall(step_class, varying, points[0])
    if all(recalled.get(size) is not None for size in set(traces[0].sizes)):
        return traces[0], [recalled[size] or {} for size in traces[0].sizes]
    powers = monomials(varying)
    while len(traces) < MOST_TRACES:
        point = step_class.point(len(traces))
        traces.append(tracer.trace(point))
        points.append(astuple(point))
        if traces[-1].events != traces[0].events:
            raise TraceError(f"the order of events differs between {points[0]} and {points[-1]}")
        if len(traces) < 3:
            continue
        columns, which = np.unique(np.array([t.sizes for t in traces], np.int64), axis=1, return_inverse=True)
        solved = solve(columns * _PARTS, powers, points)
        if all(polynomial is not None for polynomial in solved):
            sizes.learn(p for p in solved if p is not None)
            return traces[0], [solved[kind] or {} for kind in which.reshape(-1)]
    unknown = [columns[:, kind].tolist() for kind, polynomial in enumerate(solved) if polynomial is None]
    raise TraceError(f"{len(unknown)} sizes are no polynomials, such as {unknown[0]} bytes at {points}")


def programs(tracer: Tracer, step_class: StepClass, sizes: Sizes, made_with: Mapping[str, str]) -> list[StepProgram]:
    """The programs of one class: one, or two where the loss works in tiles that have a greatest size."""
    trace, polynomials = fit(tracer, step_class, sizes)
    groups = groups_of(tracer.model, tracer.rank, trace.trained)
    bounds = step_class.bounds
    if bounds["clips"][1] != 0:
        made_with = {**made_with, "frames": f"{FRAMES_REST} modulo {FRAMES_STEP}"}
    if not trace.tiles:
        return [_program(trace, polynomials, bounds, groups, made_with)]
    full = [_full_tile(p) if birth in trace.tiles else p for birth, p in enumerate(polynomials)]
    made = []
    if tracer.recipe.device == "cuda":
        name, most = "supervised", TILE_TOKENS
    elif step_class.batch[1] == 1:
        name, most = "tokens", TILE_TOKENS + 1
    else:
        # Rows of a tile are batch x (tokens - 1) up to 4,096: for more than two examples this is an upper bound.
        name, most = "tokens", TILE_TOKENS // 2
    low, high = bounds[name]
    within = (low, most if high is None else min(high, most))
    made.append(_program(trace, polynomials, {**bounds, name: within}, groups, made_with))
    if high is None or high > most:
        made.append(_program(trace, full, {**bounds, name: (max(low, most + 1), high)}, groups, made_with))
    return made


def _full_tile(polynomial: Polynomial) -> Polynomial:
    """The size of a full tile: its rows, which grow with the batch, become the most that a tile has."""
    return {_ONE: TILE_TOKENS * max(polynomial.values())}


def _program(
    trace: Trace,
    polynomials: Sequence[Polynomial],
    bounds: Mapping[str, tuple[int, int | None]],
    groups: tuple[ParameterGroup, ...],
    made_with: Mapping[str, str],
) -> StepProgram:
    powers = sorted({row for polynomial in polynomials for row in polynomial})
    kinds: dict[tuple[int, ...], int] = {}
    kind_of = []
    rows: dict[int, int] = {}
    for polynomial in polynomials:
        # Births of one size share their polynomial, which need not be looked at again.
        if id(polynomial) not in rows:
            row = tuple(-(-polynomial.get(monomial, 0) // _PARTS) for monomial in powers)
            rows[id(polynomial)] = kinds.setdefault(row, len(kinds))
        kind_of.append(rows[id(polynomial)])
    events = np.empty(len(trace.events), np.int32)
    births = 0
    for position, event in enumerate(trace.events):
        if event >= 0:
            events[position] = kind_of[event]
            births += 1
        else:
            events[position] = -1 - (births - 1 - (-1 - event))
    return StepProgram(
        bounds=dict(bounds),
        powers=np.array(powers, np.int64).reshape(len(powers), len(VARIABLES)),
        coefficients=np.array(list(kinds), np.int64).reshape(len(kinds), len(powers)),
        events=events,
        marks=dict(trace.marks),
        groups=groups,
        made_with=dict(made_with),
    )


def groups_of(model: Any, rank: int, trained: set[str]) -> tuple[ParameterGroup, ...]:
    """The parameters by what they belong to and how they are stored, each tensor once; adapters have rank ``rank``."""
    packed = {id(m.weight): m.in_features * m.out_features for m in model.modules() if isinstance(m, Linear4Bit)}
    embeddings = {id(m.weight) for m in model.modules() if hasattr(m, "num_embeddings") and hasattr(m, "weight")}
    found: dict[tuple[str, float, bool], list[tuple[str, tuple[int, int]]]] = {}
    for name, parameter in model.named_parameters():
        numbers = (parameter.numel(), 0)
        width = float(parameter.element_size())
        if ".lora_A." in name or ".lora_B." in name:
            part = "adapters"
            numbers = (0, parameter.numel() // rank)
        elif ".lora_magnitude_vector." in name:
            part = "adapters"
        elif id(parameter) in packed:
            part, width, numbers = "4-bit weights", 0.5, (packed[id(parameter)], 0)
        elif name.endswith((".scales", ".levels")):
            part = "4-bit scales"
        elif "vision_tower" in name:
            part = "vision tower"
        elif "audio_tower" in name:
            part = "audio tower"
        elif id(parameter) in embeddings:
            part = "embeddings"
        else:
            part = "layers"
        found.setdefault((part, width, name in trained), []).append((name, numbers))
    for (part, *_), named in found.items():
        if part.startswith("4-bit"):
            named.sort(key=_as_loaded)
    return tuple(
        ParameterGroup(part, tuple(numbers for _, numbers in named), width, is_trained)
        for (part, width, is_trained), named in sorted(found.items())
    )


def _as_loaded(named: tuple[str, Any]) -> list[tuple[bool, int, str]]:
    """transformers packs weights in the order of their names, in which numbers count as numbers."""
    pieces = named[0].split(".")
    return [(not piece.isdigit(), int(piece) if piece.isdigit() else 0, piece) for piece in pieces]
