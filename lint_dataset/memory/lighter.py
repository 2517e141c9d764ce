"""Settings that hold less in every step, as far as a program for them is at hand and they let longer steps fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lint_dataset.memory import store
from lint_dataset.memory.accumulation import accumulating
from lint_dataset.memory.step_memory import StepMemory

#: What may hold less, the change that costs a training least first.
_CHANGES: tuple[dict[str, Any], ...] = (
    {"loss": "chunked"},
    {"gradient_checkpointing": True},
    {"gradient_checkpointing": True, "loss": "chunked"},
)


def longest_with(memory: StepMemory, budget: int, clips: int = 0, seconds: float = 0.0) -> dict[str, int]:
    """The longest step, in tokens, that fits a budget in bytes under lighter settings, by the options that set them.

    Only settings that the plan has not, whose program is shipped or kept in the user's cache (nothing is traced), and
    under which longer steps fit than under what is named before. ``clips`` of up to ``seconds`` are beside the tokens.
    """
    found: dict[str, int] = {}
    best = memory.longest_that_fits(budget, clips, seconds) or 0
    for change in _CHANGES:
        if any(getattr(memory.recipe, name) == value for name, value in change.items()):
            continue
        recipe = replace(memory.recipe, **change)
        programs = store.load(recipe)
        if programs is None:
            continue
        # A measured peak says nothing of other settings.
        plan = memory.plan.but(calibrate=None, **change)
        if plan.gradient_accumulation > 1:
            programs = tuple(accumulating(program) for program in programs)
        fits = StepMemory(plan, recipe, programs).longest_that_fits(budget, clips, seconds) or 0
        if fits > best:
            best = found[_options(change)] = fits
    return found


def _options(change: dict[str, Any]) -> str:
    words = {"loss": "--loss {}", "gradient_checkpointing": "--gradient-checkpointing"}
    return " ".join(words[name].format(value) for name, value in change.items())
