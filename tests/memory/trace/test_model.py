"""Models are built whole, with every tower, and adapted as PEFT and TRL adapt them."""

from __future__ import annotations

import pytest
import torch

from lint_dataset.memory.trace import TraceError
from lint_dataset.memory.trace.model import ANY_RANK, build, class_of, config_of, numel, set_rank
from lint_dataset.models import MODELS, find

from .seen import recipe


@pytest.mark.parametrize("alias", ["gemma-3n-E2B", "gemma-3n-E4B", "Llama-3.1-8B", "Qwen2.5-1.5B"])
def test_parameters_are_those_of_the_published_weights(alias: str) -> None:
    model = find(alias)
    assert model is not None
    built = build(recipe(alias, method="full", targets=""))
    counted = numel(built)
    text = built.config.get_text_config()
    shared = getattr(text, "num_kv_shared_layers", 0)
    # Gemma 3n's published files hold keys, values and a norm for layers that use those of an earlier layer, too;
    # transformers leaves them out: 5.42 and 7.82 billion of 5.44 and 7.85.
    unused = shared * (2 * text.hidden_size * text.num_key_value_heads * text.head_dim + text.head_dim) if shared else 0
    assert counted + unused == model.parameters


def test_gemma_3n_has_its_towers() -> None:
    built = build(recipe("gemma-3n-E2B", method="full", targets=""))
    by_tower = {
        tower: sum(p.numel() for name, p in built.named_parameters() if f"{tower}_tower" in name)
        for tower in ("vision", "audio")
    }
    assert by_tower["vision"] == pytest.approx(0.29e9, rel=0.02)
    assert by_tower["audio"] == pytest.approx(0.68e9, rel=0.02)


def test_attention_targets_and_named_ones(llama: str) -> None:
    def adapted(targets: str) -> set[str]:
        names = [n for n, p in build(recipe(llama, targets=targets)).named_parameters() if p.requires_grad]
        return {name.split(".lora_")[0].split(".")[-1] for name in names}

    attention = {"q_proj", "k_proj", "v_proj", "o_proj"}
    assert adapted("attention") == attention
    assert adapted("all-linear") == attention | {"gate_proj", "up_proj", "down_proj"}
    assert adapted("q_proj, down_proj") == {"q_proj", "down_proj"}


@pytest.mark.parametrize(
    ("method", "mixed", "adapters"),
    [
        ("lora", "bf16", torch.float32),
        ("lora", "no", torch.float32),
        ("qlora", "bf16", torch.bfloat16),
        ("qlora", "no", torch.float32),
    ],
)
def test_adapters_have_the_type_that_the_trainer_gives_them(
    method: str, mixed: str, adapters: torch.dtype, llama: str
) -> None:
    model = build(recipe(llama, method=method, mixed_precision=mixed))
    assert {p.dtype for p in model.parameters() if p.requires_grad} == {adapters}


def test_the_rank_is_that_of_every_adapter(llama: str) -> None:
    model = build(recipe(llama))
    set_rank(model, ANY_RANK, 5)
    ranks = {p.shape[0 if "lora_A" in n else 1] for n, p in model.named_parameters() if "lora_" in n}
    assert ranks == {5}


def test_the_table_says_which_models_cannot_be_traced() -> None:
    def refused(alias: str) -> str:
        try:
            class_of(config_of(alias), alias)
        except TraceError as error:
            return str(error)
        return ""

    for model in MODELS:
        if model.config:
            assert refused(model.alias) == (f"{model.alias} {model.untraced}" if model.untraced else "")
