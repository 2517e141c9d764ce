"""What the tests read off traces and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

import numpy as np

from lint_dataset.memory.program import StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.trace.step import Point, Trace


def recipe(model: str, **changes: object) -> Recipe:
    """LoRA on all linear layers as TRL trains it, unless changed."""
    usual: dict[str, object] = {
        "method": "lora",
        "targets": "all-linear",
        "dtype": "bf16",
        "mixed_precision": "bf16",
        "gradient_checkpointing": True,
        "loss": "chunked",
        "device": "cuda",
    }
    return Recipe(model, **{**usual, **changes})  # type: ignore[arg-type]


def rounded(size: int) -> int:
    """As CUDA's allocator hands out memory."""
    return -(-size // 512) * 512


def peak(trace: Trace, round_up: bool = False) -> int:
    """The most bytes alive at once."""
    now = most = 0
    for event in trace.events:
        size = trace.sizes[event if event >= 0 else -1 - event]
        size = rounded(size) if round_up else size
        now += size if event >= 0 else -size
        most = max(most, now)
    return most


def at(programs: Sequence[StepProgram], point: Point) -> StepProgram:
    """The program of the class that a point is in."""
    holding = [
        p
        for p in programs
        if all(
            low <= getattr(point, v) and (high is None or getattr(point, v) <= high)
            for v, (low, high) in p.bounds.items()
        )
    ]
    assert len(holding) == 1, f"{len(holding)} programs hold for {point}"
    return holding[0]


def replayed(program: StepProgram, point: Point) -> tuple[list[int], list[int]]:
    """Bytes of each birth, and the events as ``Trace`` has them: from the program alone."""
    kinds = program.coefficients @ np.prod(np.array(astuple(point), np.int64) ** program.powers, axis=1)
    sizes: list[int] = []
    events: list[int] = []
    for event in program.events.tolist():
        if event >= 0:
            events.append(len(sizes))
            sizes.append(int(kinds[event]))
        else:
            events.append(-1 - (len(sizes) - 1 - (-1 - event)))
    return sizes, events
