"""Shipped programs beside fresh traces, at random points: ``python -m tests.memory.trace.fresh [POINTS] [SEED]``.

Prints one line a point and what all of them add up to; the table in docs/memory.md is its outcome. Takes some ten
seconds a point.
"""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from lint_dataset.memory import store
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.trace.__main__ import recipes
from lint_dataset.memory.trace.step import Point, Trace, Tracer

from .seen import at, peak, replayed

#: Points that are tried of each recipe, whose model is built once.
OF_ONE = 2


@dataclass(frozen=True)
class Comparison:
    """What a program says of one point beside a fresh trace. ``births`` are the storages of the step."""

    recipe: Recipe
    point: Point
    births: int
    held: int
    fresh: int
    other_sizes: int

    @property
    def exact(self) -> bool:
        """Whether the program has every size, and the peak, to the byte."""
        return self.held == self.fresh and not self.other_sizes


def compare(recipe: Recipe, tracer: Tracer, point: Point) -> Comparison:
    """The shipped program of a recipe at a point, and a fresh trace there."""
    shipped = store.load(recipe)
    assert shipped is not None
    fresh = tracer.trace(point)
    sizes, events = replayed(at(shipped, point), point)
    other = sum(a != b for a, b in zip(sorted(sizes), sorted(fresh.sizes), strict=True))
    return Comparison(recipe, point, len(sizes), peak(Trace(sizes, events, {}, set())), peak(fresh), other)


def shipped_recipes() -> list[Recipe]:
    """Every recipe that programs are shipped for."""
    held = {model: store.keys(model) for model in store.models()}
    return [recipe for recipe in recipes(every=True) if recipe.key in held.get(recipe.model, ())]


def random_point(rng: random.Random, hears: bool) -> Point:
    """A step as people train them: short and long, alone and in batches, with clips where the model hears."""
    batch = rng.choice((1, 1, 2, 4, rng.randint(2, 9)))
    tokens = int(2 ** rng.uniform(6, 12))
    clips = rng.choice((0, 2, 3)) * batch if hears else 0
    return Point(
        batch=batch,
        tokens=tokens,
        rank=rng.choice((4, 8, 16, 32, 64, rng.randint(1, 128))),
        supervised=rng.randint(1, min(batch * (tokens - 1), 4096)),
        clips=clips,
        frames=24 + 48 * rng.randint(5, 62) if clips else 0,
    )


def comparisons(points: int, seed: int) -> Iterator[Comparison]:
    """Random points of random recipes, models first, so that every model comes up alike."""
    rng = random.Random(seed)
    choices: dict[str, list[Recipe]] = {}
    for recipe in shipped_recipes():
        choices.setdefault(recipe.model, []).append(recipe)
    models = sorted(choices)
    for first in range(0, points, OF_ONE):
        recipe = rng.choice(choices[models[first // OF_ONE % len(models)]])
        tracer = Tracer(recipe)
        for _ in range(min(OF_ONE, points - first)):
            point = random_point(rng, tracer.hears)
            if recipe.loss == "chunked" and recipe.device == "mps":
                # Rows of a tile are held at their most for three examples and more.
                point = Point(**{**vars(point), "batch": min(point.batch, 2)})
            yield compare(recipe, tracer, point)


def main(arguments: list[str]) -> int:
    """See the module. Status 1 where a text step differs."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # transformers walks sets of strings, as the maker of the programs says.
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.memory.trace.fresh", *arguments],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    warnings.filterwarnings("ignore")
    points, seed = map(int, (*arguments, *("50", "1")[len(arguments) :]))
    made = []
    for one in comparisons(points, seed):
        made.append(one)
        p = one.point
        off = "equal" if one.exact else f"{100 * (one.held / one.fresh - 1):+.4f} %, {one.other_sizes} sizes differ"
        size = f"{p.batch} x {p.tokens}, rank {p.rank}, {p.supervised} supervised"
        size += f", {p.clips} clips of {p.frames} frames" if p.clips else ""
        print(f"{one.recipe.model:16} {one.recipe.key:50} {size:60} {one.births:6} births  {off}", flush=True)
    exact = sum(one.exact for one in made)
    of = f"{len({one.recipe for one in made})} recipes of {len({one.recipe.model for one in made})} models"
    print(f"\n{len(made)} points of {of}: {exact} equal to the byte")
    return int(any(not one.exact and not one.point.clips for one in made))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
