"""What is shipped is what this code makes today."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lint_dataset.memory import store
from lint_dataset.memory.program import StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.trace import trace
from lint_dataset.memory.trace.__main__ import MODELS, recipes
from lint_dataset.memory.trace.step import Point, Trace, Tracer

from .fresh import comparisons
from .seen import at, peak, recipe, replayed

SAMPLE = [
    recipe("Llama-3.2-1B"),
    recipe("Llama-3.2-1B", method="qlora", loss="logits"),
    recipe("Qwen2.5-1.5B", targets="attention"),
]
STORY = recipe(
    "gemma-3n-E2B", dtype="fp32", mixed_precision="no", gradient_checkpointing=False, loss="logits", device="mps"
)


def same(one: StepProgram, other: StepProgram) -> bool:
    return (
        np.array_equal(one.events, other.events)
        and np.array_equal(one.powers, other.powers)
        and np.array_equal(one.coefficients, other.coefficients)
        and replace(one, events=other.events, powers=other.powers, coefficients=other.coefficients, made_with={})
        == replace(other, made_with={})
    )


@pytest.mark.parametrize("what", SAMPLE, ids=lambda r: f"{r.model}-{r.key}")
def test_a_sample_of_the_shipped_programs_is_made_again(what: Recipe) -> None:
    shipped = store.load(what)
    assert shipped is not None
    again = trace(what)
    assert len(again) == len(shipped)
    assert all(same(one, other) for one, other in zip(shipped, again, strict=True))


def test_the_story_of_a_laptop_is_shipped_and_equals_a_fresh_trace() -> None:
    shipped = store.load(STORY)
    assert shipped is not None
    tracer = Tracer(STORY)
    for point in (Point(1, 1200, 8), Point(1, 300, 16, 0, 2, 3000)):
        fresh = tracer.trace(point)
        sizes, events = replayed(at(shipped, point), point)
        # transformers computes rotary embeddings in the order of a set of strings, which differs between processes: a
        # handful of deaths trade places.
        assert sorted(events) == sorted(fresh.events)
        wrong = [(a, b) for a, b in zip(sizes, fresh.sizes, strict=True) if a != b]
        assert all(point.clips and b < a <= 16 * b for a, b in wrong)
        assert peak(Trace(sizes, events, {}, set())) == pytest.approx(peak(fresh), rel=1e-4 if point.clips else 0)


def test_shipped_programs_equal_fresh_traces_at_random_points() -> None:
    """A handful of those that ``fresh`` prints fifty of."""
    for one in comparisons(4, 2):
        assert one.exact or (one.point.clips and 0 <= one.held / one.fresh - 1 < 0.002)


def test_trl_s_own_recipe_is_shipped_for_every_model() -> None:
    assert set(store.models()) <= set(MODELS)
    for model in store.models():
        for method, targets in (("lora", "all-linear"), ("lora", "attention"), ("qlora", "all-linear"), ("full", "")):
            assert recipe(model, method=method, targets=targets).key in store.keys(model)


def test_nothing_is_shipped_that_the_command_does_not_make() -> None:
    wanted = {(r.model, r.key) for r in recipes(every=True)}
    held = {(model, key) for model in store.models() for key in store.keys(model)}
    assert held <= wanted
