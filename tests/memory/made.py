"""Step programs made by hand for the tests of the memory rooms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lint_dataset.memory.program import VARIABLES, ParameterGroup, StepProgram
from lint_dataset.memory.recipe import Recipe

RECIPE = Recipe(
    model="made-by-hand",
    method="lora",
    targets="all-linear",
    dtype="bf16",
    mixed_precision="no",
    gradient_checkpointing=False,
    loss="logits",
    device="cuda",
)


def program(
    kinds: Sequence[Mapping[tuple[str, ...], int]],
    events: Sequence[int],
    *,
    bounds: Mapping[str, tuple[int, int | None]] | None = None,
    groups: tuple[ParameterGroup, ...] = (),
    marks: Mapping[str, int] | None = None,
) -> StepProgram:
    """A program whose kinds are written as ``{("batch", "tokens"): coefficient, (): constant}``."""
    monomials = sorted({m for kind in kinds for m in kind})
    powers = np.array([[m.count(v) for v in VARIABLES] for m in monomials], np.int64)
    coefficients = np.array([[kind.get(m, 0) for m in monomials] for kind in kinds], np.int64)
    return StepProgram(
        bounds=bounds or {},
        powers=powers,
        coefficients=coefficients,
        events=np.array(events, np.int32),
        marks=marks or {"forward": 0, "loss": len(events), "backward": len(events), "optimizer": len(events)},
        groups=groups,
        made_with={"by": "hand"},
    )


def random_program(
    rng: np.random.Generator, births: int = 200, kinds: int = 8, most_alive: int = 40, **kwargs: object
) -> StepProgram:
    """A program of random sizes and random deaths; everything dies in the end."""
    shapes: list[tuple[str, ...]] = [
        (), ("tokens",), ("batch", "tokens"), ("batch", "tokens", "tokens"), ("rank",), ("supervised",),
    ]  # fmt: skip
    made = []
    for _ in range(kinds):
        chosen = rng.choice(len(shapes), size=rng.integers(1, 3), replace=False)
        made.append({shapes[i]: int(rng.integers(1, 3000)) for i in chosen})
    events: list[int] = []
    alive: list[int] = []
    born = 0
    while born < births or alive:
        if born < births and (len(alive) < 2 or (len(alive) < most_alive and rng.random() < 0.55)):
            events.append(int(rng.integers(kinds)))
            alive.append(born)
            born += 1
        else:
            # Mostly the young die, as in a forward pass.
            index = -1 if rng.random() < 0.5 else int(rng.integers(len(alive)))
            events.append(-1 - (born - 1 - alive.pop(index)))
    return program(made, events, **kwargs)  # type: ignore[arg-type]
