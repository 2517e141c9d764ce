"""Names: how a model may be written, and what is proposed for one that is not known."""

from __future__ import annotations

import pytest

from lint_dataset.models import MODELS, find, listing, near_misses


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("gemma-3n-e2b", "gemma-3n-E2B"),
        ("google/gemma-3n-E2B", "gemma-3n-E2B"),
        ("gemma-3n-E2B-it", "gemma-3n-E2B"),
        ("google/gemma-3-4b-pt", "gemma-3-4b"),
        ("meta-llama/Llama-3.2-1B", "Llama-3.2-1B"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "Llama-3.1-8B"),
        ("Qwen/Qwen3-8B-Base", "Qwen3-8B"),
        ("unsloth/Qwen3-8B-unsloth-bnb-4bit", "Qwen3-8B"),
        ("unsloth/mistral-7b-instruct-v0.3-bnb-4bit", "Mistral-7B-v0.3"),
        ("mistralai/Ministral-3-3B-Base-2512", "Ministral-3-3B"),
        ("openai/whisper-base", "whisper-base"),
    ],
)
def test_other_names_of_a_model(name: str, alias: str) -> None:
    model = find(name)
    assert model is not None
    assert model.alias == alias


@pytest.mark.parametrize("name", ["", "whisper", "somebody/gemma-3n-E2B-it", "gemma", "Qwen/Qwen3-8B-GGUF", "-base"])
def test_what_is_no_name_of_a_model(name: str) -> None:
    assert find(name) is None


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("gemma-3n-E2", "gemma-3n-E2B"),
        ("gemma3n", "gemma-3n-E2B"),
        ("lama-3.2-1b", "Llama-3.2-1B"),
        ("qwen3 8b", "Qwen3-8B"),
        ("Qwen/Qwen2.5-8B", "Qwen2.5-7B"),
        ("google/gema-3n-E4B-it", "gemma-3n-E4B"),
        ("gptoss", "gpt-oss-20b"),
    ],
)
def test_the_likeliest_model_is_proposed_first(name: str, alias: str) -> None:
    assert near_misses(name)[0] == alias
    assert len(near_misses(name)) <= 3


@pytest.mark.parametrize("name", ["", "x", "no model at all", "own/open"])
def test_nothing_is_proposed_for_what_is_like_no_model(name: str) -> None:
    assert near_misses(name) == ()


def test_the_listing_has_a_line_a_model() -> None:
    lines = listing().splitlines()
    assert [line.split()[0] for line in lines] == [model.alias for model in MODELS]
    assert all(model.hub_id in line for model, line in zip(MODELS, lines, strict=True))
