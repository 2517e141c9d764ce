"""Peak memory of a training step: step programs, their curve, and their replay through the allocator."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lint_dataset.memory.batches import batch_that_fits
from lint_dataset.memory.lighter import longest_with
from lint_dataset.memory.obtain import NoStepProgram, not_traced
from lint_dataset.memory.step_memory import StepMemory, Verdicts
from lint_dataset.plan import Plan

__all__ = ["NoStepProgram", "StepMemory", "Verdicts", "batch_that_fits", "longest_with", "not_traced", "peak_bytes"]


@overload
def peak_bytes(
    plan: Plan,
    tokens: int,
    batch: int | None = None,
    supervised: int | None = None,
    audio_seconds: float | None = None,
    images: int | None = None,
) -> int: ...


@overload
def peak_bytes(
    plan: Plan,
    tokens: ArrayLike,
    batch: ArrayLike | None = None,
    supervised: ArrayLike | None = None,
    audio_seconds: ArrayLike | None = None,
    images: ArrayLike | None = None,
) -> NDArray[np.int64]: ...


def peak_bytes(
    plan: Plan,
    tokens: Any,
    batch: Any = None,
    supervised: Any = None,
    audio_seconds: Any = None,
    images: Any = None,
) -> Any:
    """Peak bytes of the training process for steps of a plan: what PyTorch reserves, and what lies outside it.

    ``tokens`` of an example, ``batch`` such examples in the step (None: the plan's batch size), ``supervised`` of
    an example's tokens in the loss (None: all), ``audio_seconds`` of one clip in each example (None or 0: no clip).
    Numbers give an int, arrays of one length an int64 array.

    Raises ``NoStepProgram`` where the memory of the plan's steps is not known, as it never is with ``images``.
    """
    if images is not None and np.any(np.asarray(images) > 0):
        raise NoStepProgram("the memory of images is not traced yet", "ask for the text of the examples only")
    seconds = 0.0 if audio_seconds is None else audio_seconds
    columns = np.broadcast_arrays(
        tokens, plan.batch_size if batch is None else batch, tokens if supervised is None else supervised, seconds
    )
    asked, batches, trained, heard = (np.atleast_1d(column) for column in columns)
    result = np.zeros(len(asked), np.int64)
    for size in np.unique(batches).tolist():
        memory = StepMemory.of(plan.but(batch_size=int(size)))
        mine = batches == size
        result[mine] = memory.peak(asked[mine], trained[mine], (heard[mine] > 0).astype(np.int64), heard[mine])
    return result if columns[0].ndim else int(result[0])
