"""Traces training steps into step programs. The only room that imports torch and PEFT.

``trace`` runs the model's own modelling code from transformers, adapted by real PEFT, on PyTorch's meta device: no
weights, no accelerator. What differs on the real device and is not in that code is emulated: attention kernels,
autocast, 4-bit weights, fused losses. See the modules of those names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lint_dataset.memory.program import StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.trace.errors import TraceError, TraceUnavailable

if TYPE_CHECKING:
    from lint_dataset.memory.trace.programs import Sizes

__all__ = ["TraceError", "TraceUnavailable", "trace"]


def trace(
    recipe: Recipe, *, progress: Callable[[str], None] | None = None, sizes: Sizes | None = None
) -> tuple[StepProgram, ...]:
    """The step programs of a recipe, one per class of steps.

    ``progress`` is told of each class as it begins. ``sizes`` remembers polynomials between recipes of one model,
    which saves traces. Takes seconds to minutes, by the size of the model's code, not of its weights.

    Raises ``TraceError`` with one sentence when this recipe cannot be traced, and its subclass ``TraceUnavailable``
    without torch or PEFT.
    """
    try:
        import peft
        import torch
        import transformers
    except ImportError as error:
        raise TraceUnavailable(f"tracing needs {error.name}: pip install 'lint-dataset[trace]'") from error
    from lint_dataset.memory.trace.classes import classes
    from lint_dataset.memory.trace.programs import Sizes, programs
    from lint_dataset.memory.trace.step import Tracer

    made_with = {"torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__}
    tracer = Tracer(recipe)
    known = sizes if sizes is not None else Sizes()
    made: list[StepProgram] = []
    for step_class in classes(tracer.model.config, tracer.hears):
        if progress is not None:
            progress(f"{recipe.model} {recipe.key} {step_class}")
        made += programs(tracer, step_class, known, made_with)
    return tuple(made)
