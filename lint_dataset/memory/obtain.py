"""Where the step programs of a plan come from: shipped, kept from an earlier trace, or traced now."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import count

from lint_dataset.memory import store
from lint_dataset.memory.program import StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.models import find, same_shapes
from lint_dataset.plan import Plan

_OTHERS = "--list-models names the models whose memory is known"


class NoStepProgram(Exception):
    """The memory of this plan is not known here. ``reason`` says why, ``remedy`` what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        """Both become one line."""
        super().__init__(f"{reason}: {remedy}")
        self.reason, self.remedy = reason, remedy


def not_traced(plan: Plan) -> str:
    """Why the memory of a plan's trainer is not known, whatever else the plan says."""
    return (
        f"that of {plan.preset.release} is not known, whatever is given: it trains no model of transformers, so that "
        "its steps cannot be traced"
    )


def obtain(
    plan: Plan, cache_dir: str | os.PathLike[str] | None = None, *, trace: bool = True
) -> tuple[Recipe, tuple[StepProgram, ...]]:
    """The recipe of a plan that names a model, and its step programs, one per class of steps.

    They are shipped, or in the user's cache, or, if ``trace`` says so, traced now, which says so on standard error and
    keeps them there.
    Raises ``NoStepProgram``.
    """
    if not plan.preset.traceable:
        raise NoStepProgram(
            not_traced(plan), "leave --budget out, or see what transformers' own would take with --trainer hf"
        )
    recipe = Recipe.of(plan)
    known = find(recipe.model)
    if known is not None and known.untraced:
        raise NoStepProgram(f"{plan.model} {known.untraced}", _OTHERS)
    if known is not None:
        recipe = replace(recipe, model=same_shapes(known).alias)
    programs = store.load(recipe, cache_dir)
    if programs is None and not trace:
        raise NoStepProgram(_missing(plan, recipe), "name a --budget to have one traced")
    return recipe, programs or _trace(plan, recipe, cache_dir)


def _missing(plan: Plan, recipe: Recipe) -> str:
    """What is not shipped, and which options would come nearest to it."""
    shipped = [key.split("_") for key in store.keys(recipe.model)]
    if not shipped:
        return f"no step program is shipped for {plan.model}"
    nearest = min(sorted(shipped), key=lambda key: sum(a != b for a, b in zip(key, recipe.parts, strict=True)))
    changes = [
        option(value) for option, value, asked in zip(_OPTIONS, nearest, recipe.parts, strict=True) if value != asked
    ]
    return (
        f"{len(shipped)} step programs are shipped for {plan.model} and none for this plan; the nearest is for "
        f"{' '.join(filter(None, changes))}"
    )


#: The options that lead to each part of a recipe's key.
_OPTIONS: tuple[Callable[[str], str], ...] = (
    lambda method: f"--method {method}",
    lambda targets: "" if targets == "all" else f"--lora-targets {targets.replace('+', ',')}",
    lambda dtype: f"--dtype {dtype}",
    lambda mixed: f"--mixed-precision {mixed.removeprefix('amp-')}",
    lambda kept: "--gradient-checkpointing" if kept == "ckpt" else "--no-gradient-checkpointing",
    lambda loss: f"--loss {loss}",
    lambda device: f"--device {device}",
)


def _trace(plan: Plan, recipe: Recipe, cache_dir: str | os.PathLike[str] | None) -> tuple[StepProgram, ...]:
    if find_spec("torch") is None or find_spec("peft") is None:
        raise NoStepProgram(
            _missing(plan, recipe), "pip install 'lint-dataset[trace]' traces one from the model's own code"
        )
    from lint_dataset.memory.trace import TraceError, trace

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    say(f"tracing a training step of {plan.model}; this is done once and kept in the cache")
    classes = count(1)
    try:
        programs = trace(recipe, progress=lambda _: say(f"  class {next(classes)} of steps"))
    except TraceError as error:
        known = store.keys(recipe.model)
        raise NoStepProgram(str(error), _missing(plan, recipe) if known else _OTHERS) from error
    try:
        store.save(recipe, programs, store.cache_folder(cache_dir))
    except OSError as error:
        say(f"the trace is not kept: {error}")
    return programs
