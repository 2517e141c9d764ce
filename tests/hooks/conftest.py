"""A git repository to commit to, and a ``lint-dataset`` command that says what it loaded."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

# Python imports this by itself at every start, in children too, and before anything else.
RECORDER = """\
import sys

class Recorder:
    def find_spec(self, name, path=None, target=None):
        if name in ("transformers", "tokenizers", "torch"):
            with open({log!r}, "a") as log:
                log.write(name + "\\n")
        return None

sys.meta_path.insert(0, Recorder())
"""

# Settings of git and pre-commit (tests may run inside a hook), and what would forbid the network in the hook's stead.
_FOREIGN = ("GIT_", "PRE_COMMIT", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


@dataclass
class Repository:
    """A git repository in a folder of its own, with an environment that knows nothing of this machine's."""

    folder: Path
    environment: dict[str, str]
    log: Path

    def git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        run = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert not check or run.returncode == 0, run.stdout
        return run

    def write(self, name: str, *rows: Any) -> None:
        """A file of rows: texts as they are, everything else as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))

    def stage(self, name: str, *rows: Any) -> None:
        self.write(name, *rows)
        self.git("--literal-pathspecs", "add", "--", name)

    def commit(self) -> subprocess.CompletedProcess[str]:
        return self.git("commit", "-m", "change", check=False)

    def commits(self) -> int:
        return int(self.git("rev-list", "--count", "--all").stdout)

    def loaded(self) -> set[str]:
        """What the hook has loaded of the slow libraries since this was last asked."""
        names = set(self.log.read_text().split())
        self.log.write_text("")
        return names


def chat(question: str, answer: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    log, tools, start = tmp_path / "loaded", tmp_path / "bin", tmp_path / "start"
    log.touch()
    tools.mkdir()
    start.mkdir()
    (start / "sitecustomize.py").write_text(RECORDER.format(log=str(log)))
    command = tools / "lint-dataset"
    python, path = shlex.quote(sys.executable), shlex.quote(f"{start}{os.pathsep}{ROOT}")
    command.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {python} -m lint_dataset "$@"\n')
    command.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    environment |= {
        "PATH": f"{tools}{os.pathsep}{environment['PATH']}",
        "HOME": str(tmp_path),
        "LINT_DATASET_CACHE": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "huggingface"),
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    folder = tmp_path / "repository"
    folder.mkdir()
    made = Repository(folder, environment, log)
    made.git("init", "--quiet", "--initial-branch", "main")
    return made
