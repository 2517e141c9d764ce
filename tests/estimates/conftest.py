"""What the tests of estimates share: real tokenizers and text that nothing was fitted to, fetched where missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.tokenizers import Unfetchable

#: A model of each family, by a name that says which it is.
MODELS = {
    "gemma": "google/gemma-3n-E2B-it",
    "qwen": "Qwen/Qwen3-8B",
    "qwen35": "Qwen/Qwen3.5-4B",
    "llama3": "meta-llama/Meta-Llama-3-8B-Instruct",
    "deepseek": "deepseek-ai/DeepSeek-V3",
    "o200k": "openai/gpt-oss-20b",
    "tekken": "mistralai/Mistral-Nemo-Instruct-2407",
}


def fetched(make: Callable[[], Any]) -> Any:
    """What ``make`` gives; where it cannot be fetched the test is skipped, or fails in CI."""
    try:
        return make()
    except Unfetchable as reason:
        if os.environ.get("LINT_DATASET_REQUIRE_REAL"):
            pytest.fail(str(reason))
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def held_out() -> list[Any]:
    """A few hundred kilobytes that no coefficient ever saw, of every kind."""
    from tests.estimates import corpora

    return fetched(lambda: cache(corpora.small_held_out)(modules=20))


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without the Hub: nothing in its cache, and no network."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
