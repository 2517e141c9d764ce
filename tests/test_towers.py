"""What a tower takes is judged, or said not to be."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from lint_dataset.judge import look
from lint_dataset.measurements import schema
from lint_dataset.memory import StepMemory
from lint_dataset.plan import Plan
from lint_dataset.towers import untraced

from .rules.test_truncation import row

CLIP: dict[str, Any] = {"kind": "audio", "start": 10, "end": 198, "seconds": 5.0}
IMAGE: dict[str, Any] = {"kind": "image", "start": 10, "end": 266, "seconds": None}


def said(model: str, *media: list[dict[str, Any]], budget: int | None = 10**10) -> list[str]:
    plan = Plan(model=model, budget=budget)
    memory = StepMemory.of(plan)
    rows = [row(300, media=each) for each in media]
    return untraced(look(pa.Table.from_pylist(rows, schema()), plan, memory).rows, plan, memory)


def test_the_audio_tower_of_gemma_3n_is_judged() -> None:
    assert said("gemma-3n-E2B", [CLIP], []) == []


@pytest.mark.parametrize("model", ["gemma-3n-E2B", "gemma-3-4b"])
def test_images_are_said_to_be_judged_by_tokens_alone(model: str) -> None:
    (sentence,) = said(model, [IMAGE, IMAGE], [IMAGE], [])
    assert sentence.startswith(f"memory: what the vision tower of {model} takes is not traced yet: 2 rows with images")


def test_a_model_whose_audio_tower_is_not_traced() -> None:
    (sentence,) = said("gemma-3-1b", [CLIP])
    assert "1 row with clips judged by tokens alone" in sentence


def test_without_a_budget_memory_was_not_asked_for() -> None:
    assert said("gemma-3-4b", [IMAGE], budget=None) == []
