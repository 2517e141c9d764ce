"""The hook for plain git, in a real repository."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.hooks.conftest import ROOT, Repository, chat

HOOK = ROOT / "hooks" / "pre-commit"


@pytest.fixture
def hooked(repository: Repository) -> Repository:
    installed = repository.folder / ".git" / "hooks" / "pre-commit"
    installed.parent.mkdir(exist_ok=True)
    shutil.copy(HOOK, installed)
    return repository


def test_the_script_is_ready_to_be_copied() -> None:
    assert os.access(HOOK, os.X_OK)
    assert HOOK.read_text().startswith("#!/bin/sh\n")


def test_a_bad_row_blocks_the_commit_and_a_good_one_passes(hooked: Repository) -> None:
    hooked.stage("data/train.jsonl", chat("How?", "So."), "not json")
    run = hooked.commit()
    assert run.returncode != 0
    assert "data/train.jsonl:2: J" in run.stdout
    assert hooked.commits() == 0
    hooked.stage("data/train.jsonl", chat("How?", "So."))
    run = hooked.commit()
    assert run.returncode == 0, run.stdout
    assert hooked.commits() == 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a b/with space.jsonl", "a b/with space.jsonl"),
        ("two\nlines.ndjson", "two\\nlines.ndjson"),
        ("[a]*?.jsonl", "[a]*?.jsonl"),
        ("--help.jsonl", "--help.jsonl"),
        (":(top)'$(x)`\".jsonl", ":(top)'$(x)`\".jsonl"),
        ("données.jsonl", "données.jsonl"),
    ],
)
def test_names_of_every_kind_are_checked(hooked: Repository, name: str, shown: str) -> None:
    hooked.stage(name, "not json")
    run = hooked.commit()
    assert run.returncode != 0
    assert f"{shown}:1: J" in run.stdout


def test_only_staged_data_is_checked(hooked: Repository) -> None:
    hooked.write("lying around.jsonl", "not json")
    hooked.stage("notes.json", "not json")
    hooked.stage("good.jsonl", chat("How?", "So."))
    run = hooked.commit()
    assert run.returncode == 0, run.stdout


def test_a_commit_without_data_needs_no_lint_dataset(hooked: Repository) -> None:
    (Path(hooked.environment["PATH"].split(os.pathsep)[0]) / "lint-dataset").unlink()
    hooked.stage("notes.txt", "text")
    assert hooked.commit().returncode == 0


def test_a_missing_lint_dataset_is_said(hooked: Repository, tmp_path: Path) -> None:
    tools = tmp_path / "only"
    tools.mkdir()
    for tool in ("git", "sh", "xargs", "sed"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    hooked.environment["PATH"] = str(tools)
    hooked.stage("train.jsonl", chat("How?", "So."))
    run = hooked.commit()
    assert run.returncode != 0
    assert "pip install lint-dataset" in run.stdout


def test_a_deleted_file_and_a_renamed_one(hooked: Repository) -> None:
    rows = [chat(f"How {i}?", "So.") for i in range(20)]
    hooked.stage("a.jsonl", *rows)
    hooked.stage("b.jsonl", *rows)
    assert hooked.commit().returncode == 0
    hooked.git("rm", "-q", "a.jsonl")
    assert hooked.commit().returncode == 0
    hooked.git("mv", "b.jsonl", "c.jsonl")
    hooked.stage("c.jsonl", *rows, "not json")
    assert "c.jsonl:21: J" in hooked.commit().stdout


def test_changes_that_are_not_staged_stop_the_commit_and_are_kept(hooked: Repository) -> None:
    hooked.stage("my data.jsonl", "not json")
    hooked.stage("other.jsonl", chat("How?", "So."))
    hooked.write("my data.jsonl", chat("How?", "So."))
    before = (hooked.folder / "my data.jsonl").read_text()
    run = hooked.commit()
    assert run.returncode != 0
    assert "    my data.jsonl\n" in run.stdout
    assert "other.jsonl" not in run.stdout
    assert "git add" in run.stdout
    assert (hooked.folder / "my data.jsonl").read_text() == before
    assert hooked.commits() == 0
    assert hooked.git("commit", "--all", "-m", "change").returncode == 0


def test_it_runs_from_a_folder_below(hooked: Repository) -> None:
    hooked.stage("data/train.jsonl", "not json")
    run = hooked.git("-C", "data", "commit", "-m", "change", check=False)
    assert "data/train.jsonl:1: J" in run.stdout
