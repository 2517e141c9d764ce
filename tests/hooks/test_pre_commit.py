"""Real pre-commit in a real repository: what blocks a commit, what passes, and what a second run loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.hooks.conftest import ROOT, Repository, chat

MANIFEST = ROOT / ".pre-commit-hooks.yaml"


def pre_commit(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pre_commit", *arguments]


@pytest.fixture
def hooked(repository: Repository) -> Repository:
    """A repository with both hooks of the manifest, as they are except that they run the code of this checkout."""
    hooks = yaml.safe_load(MANIFEST.read_text())
    for hook in hooks:
        hook["language"] = "system"
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (repository.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    for kind in ("pre-commit", "pre-push"):
        command = pre_commit("install", "--hook-type", kind)
        subprocess.run(command, cwd=repository.folder, env=repository.environment, check=True, capture_output=True)
    repository.git("add", ".pre-commit-config.yaml")
    return repository


def test_the_manifest_and_the_samples_are_valid() -> None:
    subprocess.run(pre_commit("validate-manifest", str(MANIFEST)), check=True)
    samples = [str(path) for path in sorted((ROOT / "hooks").glob("*.yaml"))]
    assert samples
    subprocess.run(pre_commit("validate-config", *samples), check=True)


def test_the_local_sample_runs_what_the_manifest_runs() -> None:
    (local,) = yaml.safe_load((ROOT / "hooks" / "pre-commit-config-local.yaml").read_text())["repos"]
    manifest = {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text())}
    for hook in local["hooks"]:
        assert {**manifest[hook["id"]], **hook, "language": "python"} == manifest[hook["id"]]


def test_a_bad_row_blocks_the_commit_and_names_file_and_line(hooked: Repository) -> None:
    hooked.stage("data/train.jsonl", chat("How?", "So."), '{"messages": [')
    run = hooked.commit()
    assert run.returncode != 0
    assert "data/train.jsonl:2: J" in run.stdout
    assert "data/train.jsonl:1:" not in run.stdout
    assert hooked.commits() == 0

    hooked.stage("data/train.jsonl", chat("How?", "So."), chat("And?", "Thus."))
    run = hooked.commit()
    assert run.returncode == 0, run.stdout
    assert hooked.commits() == 1
    assert not hooked.loaded()


@pytest.mark.parametrize("name", ["train.ndjson", "with space.jsonl", "[a]*.jsonl", "--help.jsonl", "données.jsonl"])
def test_names_of_every_kind_are_checked(hooked: Repository, name: str) -> None:
    hooked.stage(name, "not json")
    run = hooked.commit()
    assert run.returncode != 0
    assert f"{name}:1: J" in run.stdout


def test_other_files_are_left_alone(hooked: Repository) -> None:
    hooked.stage("notes.json", "not json")
    hooked.stage("train.jsonl.txt", "not json")
    run = hooked.commit()
    assert run.returncode == 0
    assert "no files to check" in run.stdout


def test_what_is_staged_is_checked_and_not_what_lies_around(hooked: Repository) -> None:
    hooked.stage("train.jsonl", "not json")
    hooked.write("train.jsonl", chat("How?", "So."))
    assert "train.jsonl:1: J" in hooked.commit().stdout
    hooked.git("add", "train.jsonl")
    hooked.write("train.jsonl", "not json")
    assert hooked.commit().returncode == 0
    assert (hooked.folder / "train.jsonl").read_text() == "not json\n"


def test_what_cannot_be_judged_blocks_the_commit_and_downloads_nothing(hooked: Repository) -> None:
    (hooked.folder / "pyproject.toml").write_text('[tool.lint-dataset]\nmodel = "nobody/nothing"\nmax-length = 9\n')
    hooked.stage("train.jsonl", chat("How?", "So."))
    run = hooked.commit()
    assert run.returncode != 0
    assert "exit code: 2" in run.stdout
    assert "nobody/nothing" in run.stdout
    assert "Traceback" not in run.stdout


def test_a_push_shows_the_report_even_when_it_passes(hooked: Repository, tmp_path: Path) -> None:
    hooked.stage("train.jsonl", chat("How?", "So."))
    assert "1 example in 1 file" not in hooked.commit().stdout
    hooked.git("init", "--quiet", "--bare", str(tmp_path / "remote"))
    run = hooked.git("push", str(tmp_path / "remote"), "main")
    assert "1 example in 1 file" in run.stdout

    hooked.stage("train.jsonl", "not json")
    hooked.git("commit", "--no-verify", "-m", "change")
    run = hooked.git("push", str(tmp_path / "remote"), "main", check=False)
    assert run.returncode != 0
    assert "train.jsonl:1: J" in run.stdout


def test_an_unchanged_file_is_judged_without_a_tokenizer(hooked: Repository, gemma3n_folder: Path) -> None:
    settings = f'[tool.lint-dataset]\ntokenizer = "{gemma3n_folder}"\nmax-length = 40\n'
    (hooked.folder / "pyproject.toml").write_text(settings)
    long, short = "Say it once more, and slower this time. " * 12, "Well said."
    hooked.stage("train.jsonl", chat("Again?", short), chat("Again?", long))
    run = hooked.commit()
    assert run.returncode != 0
    assert "train.jsonl:2: T002" in run.stdout
    assert "train.jsonl:1:" not in run.stdout
    assert "transformers" in hooked.loaded()

    second = hooked.commit()
    assert hooked.loaded() == set()
    assert second.stdout.splitlines()[-9:] == run.stdout.splitlines()[-9:]

    hooked.stage("train.jsonl", chat("Again?", short))
    assert hooked.commit().returncode == 0
    assert hooked.loaded() == set(), "the row that is left was measured before"
