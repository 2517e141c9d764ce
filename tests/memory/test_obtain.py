"""Where no program is at hand, one line says what is, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_dataset.memory import NoStepProgram, StepMemory, peak_bytes, store
from lint_dataset.memory.recipe import Recipe
from lint_dataset.plan import Plan


@pytest.fixture
def untraceable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lint_dataset.memory.obtain.find_spec", lambda name: None)


def said(plan: Plan, folder: Path) -> str:
    with pytest.raises(NoStepProgram) as raised:
        StepMemory.of(plan, folder)
    line = str(raised.value)
    assert "\n" not in line
    return line


def test_the_options_of_the_nearest_plan_are_named(untraceable: None, tmp_path: Path) -> None:
    plan = Plan(model="Qwen/Qwen2.5-7B-Instruct", lora_targets="q_proj,v_proj", gradient_checkpointing=False)
    line = said(plan, tmp_path)
    assert "shipped for Qwen/Qwen2.5-7B-Instruct and none for this plan" in line
    assert "--lora-targets attention" in line or "--lora-targets all-linear" in line
    assert line.endswith("pip install 'lint-dataset[trace]' traces one from the model's own code")
    assert "--method" not in line
    assert "--dtype" not in line


def test_a_model_that_nobody_knows_has_nothing_near(untraceable: None, tmp_path: Path) -> None:
    line = said(Plan(model="nobody/knows-it"), tmp_path)
    assert line.startswith("no step program is shipped for nobody/knows-it: pip install")


def test_what_cannot_be_traced_is_said_without_trying_and_torch_is_not_the_remedy(
    untraceable: None, tmp_path: Path
) -> None:
    line = said(Plan(model="Qwen/Qwen3.5-4B"), tmp_path)
    assert line.startswith("Qwen/Qwen3.5-4B has layers of linear attention, whose kernels are not emulated yet: ")
    assert "--list-models" in line
    assert "pip install" not in line


def test_a_reason_from_inside_never_reaches_people(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="tracing needs torch: pip install 'lint-dataset[trace]'")
    (tmp_path / "config.json").write_text('{"model_type": "llama", "hidden_size": 7, "num_attention_heads": 3}')
    line = said(Plan(model=str(tmp_path)), tmp_path)
    assert line.startswith(f"transformers cannot read the configuration of {tmp_path}: ")
    assert "Error" not in line
    assert "--list-models" in line


@pytest.mark.parametrize("twin", ["Qwen2.5-Coder-1.5B", "unsloth/Qwen2.5-Coder-1.5B-Instruct-bnb-4bit"])
def test_models_of_the_same_shapes_share_their_programs(twin: str) -> None:
    one, other = Plan(model="Qwen2.5-1.5B"), Plan(model=twin)
    assert peak_bytes(other, 1000) == peak_bytes(one, 1000)


def test_a_model_with_an_output_layer_of_its_own_is_another() -> None:
    assert Recipe.of(Plan(model="DeepSeek-R1-Distill-Qwen-1.5B")).key in store.keys("Qwen2.5-1.5B")
    with pytest.raises(NoStepProgram):
        StepMemory.of(Plan(model="DeepSeek-R1-Distill-Qwen-1.5B"), trace=False)


@pytest.mark.parametrize("method", ["lora", "full"])
def test_a_plan_in_fp16_has_the_programs_of_bf16(method: str, untraceable: None, tmp_path: Path) -> None:
    plan = Plan(model="Qwen2.5-0.5B", method=method, trainer="hf", budget=15 * 10**9)
    halved = plan.but(dtype="fp16", mixed_precision="no" if plan.mixed_precision == "no" else "fp16")
    steps = [StepMemory.of(one, tmp_path) for one in (plan, halved)]
    assert steps[0].recipe != steps[1].recipe
    assert steps[0].peak(1000, 1000).tolist() == steps[1].peak(1000, 1000).tolist()


def test_a_model_that_hears_is_not_taken_for_its_twin(untraceable: None, tmp_path: Path) -> None:
    heard = Plan(model="gemma-3n-E2B", trainer="hf")
    assert StepMemory.of(heard, tmp_path).hears
    said(heard.but(dtype="fp16"), tmp_path)
