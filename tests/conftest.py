"""What all tests share: a cache of their own, the published tokenizers, and processors loaded once."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests import tokenizers

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor

# A property that loads something heavy on its first example is not slow on the others.
settings.register_profile("default", deadline=None)
settings.load_profile("default")

#: Fixtures that fetch: a test that uses one runs on a published tokenizer.
_FETCHING = {"fetched", "gemma3n_folder", "loaded", "gemma3n", "with_template"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _FETCHING.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("real_tokenizer")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the cache of the person who runs them, and none goes to the network."""
    os.environ["LINT_DATASET_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def fetched() -> Callable[[str], Path]:
    """The folder of a published tokenizer (or ``gemma3n``) by its name.

    Where it cannot be fetched the test is skipped, or fails if ``LINT_DATASET_REQUIRE_REAL`` is set, as in CI.
    """

    def folder(name: str) -> Path:
        try:
            return tokenizers.gemma3n() if name == "gemma3n" else tokenizers.published(name)
        except tokenizers.Unfetchable as reason:
            if os.environ.get("LINT_DATASET_REQUIRE_REAL"):
                pytest.fail(str(reason))
            pytest.skip(str(reason))

    return folder


@pytest.fixture(scope="session")
def gemma3n_folder(fetched: Callable[[str], Path]) -> Path:
    return fetched("gemma3n")


@pytest.fixture(scope="session")
def loaded(fetched: Callable[[str], Path]) -> Callable[[str], Processor]:
    """A processor by its name, loaded once."""
    from lint_dataset.processors import load, locate

    @cache
    def processor(name: str) -> Processor:
        return load(locate(None, str(fetched(name))))

    return processor


@pytest.fixture(scope="session")
def gemma3n(loaded: Callable[[str], Processor]) -> Processor:
    return loaded("gemma3n")


@pytest.fixture
def with_template(loaded: Callable[[str], Processor]) -> Callable[[str], Processor]:
    """A processor with the vocabulary of Qwen3 and a template of our own."""
    import copy

    from lint_dataset.processors import expansion
    from lint_dataset.processors.loading import Processor

    def make(template: str) -> Processor:
        base = loaded("qwen3")
        tokenizer = copy.copy(base.tokenizer)
        tokenizer.chat_template = template
        return Processor(tokenizer, None, expansion.read(None, tokenizer))

    return make
