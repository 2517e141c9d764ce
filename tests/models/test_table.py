"""The table of models: every configuration builds a model with the published number of parameters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lint_dataset.models import MODELS, Model, shipped_recipes

from .built import built, left_out, parameters

KNOWN = [model for model in MODELS if model.config]
UNITS = {"B": 1e9, "M": 1e6}


@pytest.mark.parametrize("model", KNOWN, ids=lambda model: model.alias)
def test_a_configuration_builds_the_published_number_of_parameters(model: Model) -> None:
    pytest.importorskip("torch", reason="models are built on torch's meta device")
    made = built(model)
    if re.fullmatch(r"[\d,]+", model.published):
        assert parameters(made) + left_out(made.config) == model.parameters
    else:
        assert parameters(made) == model.parameters


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.alias)
def test_the_parameters_are_those_that_are_published(model: Model) -> None:
    """Exact where the publisher says so, else within a unit of the last digit of each figure that is published."""
    if re.fullmatch(r"[\d,]+", model.published):
        assert model.parameters == int(model.published.replace(",", ""))
        return
    stated = tolerance = 0.0
    for figure in model.published.split(" + "):
        number, unit = figure[:-1], UNITS[figure[-1]]
        stated += float(number) * unit
        tolerance += 10.0 ** -len(number.partition(".")[2]) * unit
    assert abs(model.parameters - stated) <= tolerance


def test_names_are_unique_and_lead_to_their_model() -> None:
    from lint_dataset.models import find

    names = [name.casefold() for model in MODELS for name in (model.alias, model.hub_id)]
    assert len(set(names)) == len(names)
    for model in MODELS:
        assert find(model.alias) is model
        assert find(model.alias.upper()) is model
        assert find(model.hub_id) is model
        assert model.mirror is None or find(model.mirror) is model


def test_a_model_without_a_configuration_is_one_that_is_listed_here() -> None:
    assert {model.alias for model in MODELS if not model.config} == {
        "Qwen2.5-Omni-3B",
        "Qwen3-Omni-30B-A3B",
        "Phi-4-multimodal",
    }


def test_the_documented_table_is_that_of_the_data() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if "| " in line]
    documented = {row[0]: row for row in cells}
    for model in MODELS:
        _, hub_id, _, published, made, ours, theirs, memory = documented[model.alias]
        assert (hub_id, published) == (model.hub_id, model.published)
        assert (made == "–") == (not model.config)
        assert ours == theirs
        # What is shipped may be more than was documented, never less.
        assert (memory == "not known") == bool(model.untraced)
        assert memory in ("trace", "not known") or 0 < int(memory) <= shipped_recipes(model)
