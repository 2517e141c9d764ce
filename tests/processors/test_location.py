"""Finding a processor: on this machine first, and a way out in one line where it is not."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from lint_dataset.processors import ProcessorUnavailable, locate
from lint_dataset.processors.location import files_of
from tests.models.hub import COMMIT, Hub, Repository, serving

REPOSITORY = Path(__file__).parent.parent.parent
FILES = {
    "tokenizer.json": b'{"version": "1.0"}',
    "tokenizer_config.json": b"{}",
    "chat_template.jinja": b"{{ messages }}",
    "config.json": b'{"model_type": "gemma"}',
    "model.safetensors": b"weights" * 1000,
    "modeling_own.py": b"raise SystemExit('ran remote code')",
}


@pytest.fixture(autouse=True)
def hub_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("LINT_DATASET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "hf"


def cached(home: Path, repository: str, files: dict[str, bytes], revision: str = COMMIT) -> Path:
    """A repository as huggingface_hub lays it out."""
    folder = home / "hub" / f"models--{repository.replace('/', '--')}"
    snapshot = folder / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(revision)
    for name, content in files.items():
        (snapshot / name).write_bytes(content)
    return snapshot


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving({"own/open": Repository({COMMIT: FILES})}) as served:
        yield served


def located(name: str, **env: str) -> dict[str, str]:
    """What ``locate`` says in a fresh process: huggingface_hub reads its environment once, when it is imported."""
    program = f"""
        import json, sys
        from lint_dataset.processors import ProcessorUnavailable, locate
        try:
            said = locate({name!r}, None)._asdict()
        except ProcessorUnavailable as reason:
            said = {{"message": reason.message, "remedy": reason.remedy}}
        heavy = {{"transformers", "tokenizers", "torch"}} & set(sys.modules)
        print(json.dumps({{**said, "heavy": sorted(heavy), "hub": "huggingface_hub" in sys.modules}}))
    """
    import os

    command = [sys.executable, "-c", textwrap.dedent(program)]
    environment = {**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1", **env}
    run = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
    said = json.loads(run.stdout.splitlines()[-1])
    assert said["heavy"] == []
    assert not any("\n" in str(value) for value in said.values())
    return said


def test_a_folder_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    for name, content in FILES.items():
        (tmp_path / "own" / name).write_bytes(content)
    place = locate("gemma-3n-E2B", str(tmp_path / "own"))
    assert place.folder == str(tmp_path / "own")
    names = {path.name for path in files_of(tmp_path / "own")}
    assert names == {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "config.json"}


def test_the_hubs_cache_by_alias_id_and_mirror(hub_home: Path) -> None:
    snapshot = cached(hub_home, "unsloth/gemma-3n-E2B-it", FILES)
    for name in ("gemma-3n-E2B", "gemma-3n-e2b", "google/gemma-3n-E2B-it", "unsloth/gemma-3n-E2B-it"):
        assert Path(locate(name, None).folder) == snapshot
    first = cached(hub_home, "google/gemma-3n-E2B-it", FILES)
    assert Path(locate("gemma-3n-E2B", None).folder) == first
    assert Path(locate("unsloth/gemma-3n-E2B-it", None).folder) == snapshot


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = cached(tmp_path / "elsewhere", "own/model", FILES)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere" / "hub"))
    assert Path(locate("own/model", None).folder) == snapshot


def test_a_cached_model_needs_neither_network_nor_client(hub_home: Path, hub: Hub) -> None:
    cached(hub_home, "own/open", FILES)
    said = located("own/open", HF_ENDPOINT=hub.address)
    assert said["folder"].endswith(COMMIT)
    assert not said["hub"]
    assert hub.asked == []


def test_offline(hub: Hub) -> None:
    said = located("own/open", HF_ENDPOINT=hub.address, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE" in said["message"]
    assert "lint-dataset --prefetch --model own/open" in said["remedy"]
    assert hub.asked == []
    assert not said["hub"]


def test_a_repository_that_is_named_is_the_one_that_is_meant(hub_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A base model has a processor of its own, often without a template: that of the tuned model says nothing of it."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    cached(hub_home, "meta-llama/Llama-3.2-1B-Instruct", FILES)
    with pytest.raises(ProcessorUnavailable, match=r"processor of meta-llama/Llama-3\.2-1B is not in"):
        locate("meta-llama/Llama-3.2-1B", None)
    base = cached(hub_home, "meta-llama/Llama-3.2-1B", FILES)
    assert Path(locate("meta-llama/Llama-3.2-1B", None).folder) == base


@pytest.mark.parametrize("name", ["no model at all", "../up", "a/b/c", "http://x/y", "/no/such/folder", "-x"])
def test_what_cannot_be_a_model(name: str) -> None:
    with pytest.raises(ProcessorUnavailable, match="neither a known model") as raised:
        locate(name, None)
    assert "--list-models" in raised.value.remedy


@pytest.mark.parametrize("name", ["gemma 3n E2B", "gemma-3n-E2b-bf17"])
def test_near_misses_are_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ProcessorUnavailable, match="did you mean gemma-3n-E2B"):
        locate(name, None)


def test_a_folder_without_a_tokenizer_and_a_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ProcessorUnavailable, match="holds no tokenizer"):
        locate(None, str(tmp_path))
    with pytest.raises(ProcessorUnavailable, match="is a file"):
        locate(None, str(tmp_path / "config.json"))


def test_a_cached_model_that_hears_needs_its_preprocessor(hub_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever only ever loaded its tokenizer has a part of it: the rest is fetched, or, offline, done without."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    config = json.dumps({"audio_config": {}}).encode()
    first = cached(hub_home, "google/gemma-3n-E2B-it", {**FILES, "config.json": config})
    assert Path(locate("gemma-3n-E2B", None).folder) == first
    whole = cached(
        hub_home, "unsloth/gemma-3n-E2B-it", {**FILES, "config.json": config, "processor_config.json": b"{}"}
    )
    assert Path(locate("gemma-3n-E2B", None).folder) == whole


def test_the_fingerprint_follows_files_versions_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lint_dataset.processors import fingerprint

    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
    first, second = (locate(None, str(folder)).fingerprint for folder in folders)
    assert first == second
    (folders[1] / "model.safetensors").write_bytes(b"other weights")
    assert locate(None, str(folders[1])).fingerprint == first
    (folders[1] / "chat_template.jinja").write_bytes(b"{{ messages[0] }}")
    assert locate(None, str(folders[1])).fingerprint != first
    monkeypatch.setattr(fingerprint, "version", lambda package: f"{package} of tomorrow")
    assert locate(None, str(folders[0])).fingerprint != first
