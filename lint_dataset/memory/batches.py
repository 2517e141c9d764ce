"""The batch that fits: how many examples like the heaviest one a step may hold."""

from __future__ import annotations

from lint_dataset.memory.reading import largest
from lint_dataset.memory.step_memory import StepMemory


def batch_that_fits(
    memory: StepMemory, budget: int, tokens: int, supervised: int, clips: int = 0, seconds: float = 0.0
) -> int | None:
    """The largest batch of examples like this one, smaller than the plan's, that fits a budget in bytes for certain.

    ``supervised`` tokens of an example are in the loss, ``seconds`` is its longest of ``clips``. None where not even
    one such example fits.
    """
    good, bad = 0, memory.plan.batch_size
    while bad - good > 1:
        middle = (good + bad) // 2
        one = StepMemory(memory.plan.but(batch_size=middle), memory.recipe, memory.curve.programs)
        row = one.rows(tokens, supervised, clips, seconds)[0]
        limit = largest(one.reading.high, budget) - one.device.context
        fits = one.run([row, row], limit) is not None if one.device.caching else one.allocated(row[None])[0] <= limit
        good, bad = (middle, bad) if fits else (good, middle)
    return good or None
