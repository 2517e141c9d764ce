from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import numpy as np
import pytest

from lint_dataset.memory import store
from lint_dataset.memory.program import ParameterGroup, StepProgram
from tests.memory.made import RECIPE, program, random_program


def same(one: StepProgram, other: StepProgram) -> bool:
    arrays = ("powers", "coefficients", "events")
    rest = ("bounds", "marks", "groups", "made_with")
    return all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays) and all(
        getattr(one, a) == getattr(other, a) for a in rest
    )


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LINT_DATASET_CACHE", str(tmp_path))
    return store.cache_folder()


def some_programs() -> tuple[StepProgram, ...]:
    groups = (
        ParameterGroup("weights", ((4096 * 4096, 0), (7, 0)), 0.5, False),
        ParameterGroup("adapters", ((0, 4096),), 4.0, True),
    )
    return (
        program([{(): 3, ("batch", "tokens"): 2}], [0, 0, -2, -1], bounds={"tokens": (1, 512)}, groups=groups),
        random_program(np.random.default_rng(1), bounds={"tokens": (513, None)}, groups=groups),
    )


def test_what_is_saved_is_loaded(cache: Path) -> None:
    programs = some_programs()
    store.save(RECIPE, programs, cache)
    loaded = store.load(RECIPE)
    assert loaded is not None
    assert len(loaded) == 2
    assert all(same(a, b) for a, b in zip(programs, loaded, strict=True))


def test_what_programs_share_is_written_once_and_read_for_each(cache: Path) -> None:
    one, other = some_programs()
    programs = (one, other, dataclasses.replace(other, coefficients=other.coefficients + 1), one)
    path = store.save(RECIPE, programs, cache)
    loaded = store.load(RECIPE)
    assert loaded is not None
    assert all(same(a, b) for a, b in zip(programs, loaded, strict=True))
    alone = store.save(dataclasses.replace(RECIPE, model="alone"), (one, other), cache)
    assert path.stat().st_size < 1.5 * alone.stat().st_size


def test_saving_another_recipe_keeps_the_first(cache: Path) -> None:
    full = dataclasses.replace(RECIPE, method="full", targets="")
    store.save(RECIPE, some_programs(), cache)
    store.save(full, some_programs()[:1], cache)
    assert store.keys(RECIPE.model, cache) == {RECIPE.key, full.key}
    first, second = store.load(RECIPE), store.load(full)
    assert first is not None
    assert len(first) == 2
    assert second is not None
    assert len(second) == 1


def test_same_programs_make_the_same_bytes(cache: Path) -> None:
    first = store.save(RECIPE, some_programs(), cache).read_bytes()
    assert store.save(RECIPE, some_programs(), cache).read_bytes() == first


def test_nothing_saved_is_none(cache: Path) -> None:
    assert store.load(RECIPE) is None
    assert store.keys(RECIPE.model, cache) == frozenset()


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut"])
def test_a_broken_archive_counts_as_absent_and_is_repaired_by_saving(cache: Path, content: bytes) -> None:
    path = store.archive(RECIPE.model, cache)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert store.load(RECIPE) is None
    store.save(RECIPE, some_programs(), cache)
    assert store.load(RECIPE) is not None


def test_names_that_are_no_file_names_do_not_collide(tmp_path: Path) -> None:
    names = ["org/name", "org_name", "../org/name", "org name"]
    paths = {store.archive(name, tmp_path) for name in names}
    assert len(paths) == len(names)
    assert all(path.parent == tmp_path for path in paths)


def test_a_local_model_is_told_apart_by_its_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"hidden_size": 64}')
    before = store.archive(str(tmp_path), tmp_path)
    config.write_text('{"hidden_size": 128}')
    assert store.archive(str(tmp_path), tmp_path) != before


def test_cache_folder_prefers_the_argument_then_the_variable_then_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.delenv("LINT_DATASET_CACHE", raising=False)
    assert store.cache_folder() == Path("/xdg/lint-dataset/programs")
    monkeypatch.setenv("LINT_DATASET_CACHE", "/mine")
    assert store.cache_folder() == Path("/mine/programs")
    assert store.cache_folder("/given") == Path("/given/programs")


def test_loading_one_of_many_entries_is_fast(cache: Path) -> None:
    # Programs as large as a Gemma 3n step with checkpointing: 37,000 events, hundreds of weights.
    groups = (ParameterGroup("weights", tuple((n, 0) for n in range(900)), 2.0, False),)
    large = random_program(np.random.default_rng(2), births=18_500, kinds=32, groups=groups)
    for rank in range(4):
        store.save(dataclasses.replace(RECIPE, targets=f"m{rank}"), (large,), cache)
    wanted = dataclasses.replace(RECIPE, targets="m2")
    took = []
    for _ in range(5):
        start = time.perf_counter()
        assert store.load(wanted) is not None
        took.append(time.perf_counter() - start)
    # 20 ms on an idle machine; random events pack worse than real ones.
    assert min(took) < 0.1
