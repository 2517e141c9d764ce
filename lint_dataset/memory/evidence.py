"""What the error band of a prediction rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lint_dataset.memory.recipe import Recipe


@dataclass(frozen=True)
class Band:
    """How far the real peak may lie from the predicted one, as fractions of it: ``[1 - below, 1 + above]``."""

    below: float
    above: float
    #: What that rests on, to be shown to people.
    basis: str


def _measured(rows: int, most_low: float, most_high: float, cards: str) -> Band:
    """A band from a comparison with measured runs.

    ``most_low`` is how far the worst prediction lay under what was measured and ``most_high`` how far over, in percent
    of what was measured. The band is a quarter wider than that, and at least 1 % each way.
    """
    basis = f"measured on {rows} runs on {cards}: at worst {most_low:.1f} % too low, {most_high:.1f} % too high"
    return Band(max(1.25 * most_high, 1.0) / 100, max(1.25 * most_low, 1.0) / 100, basis)


def band(recipe: Recipe) -> Band:
    """The band of a recipe's class: method, loss, attention (which follows from the device) and device."""
    for known, found in MEASURED.items():
        if known == (recipe.method, recipe.loss, recipe.device) and "gemma-3n" not in recipe.model.casefold():
            return found
    if recipe.device == "mps":
        return Band(0.08, 0.08, "traced, not yet measured: no peak of a real run on Apple silicon was compared")
    return Band(0.05, 0.05, "traced, not yet measured: no real run of this kind was compared")


#: (method, loss, device) to what ``python -m lint_dataset.memory.validate`` found.
MEASURED: dict[tuple[str, str, str], Band] = {}
