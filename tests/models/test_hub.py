"""Fetching a processor from a Hub with the real client: cold, cached, offline, gated, gone, broken off, older."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .hub import COMMIT, OLDER, Hub, Repository, serving
from .tiny import files

PROCESSOR = {"config.json", "tokenizer.json", "tokenizer_config.json"}


@pytest.fixture
def hub() -> Iterator[Hub]:
    whole = {COMMIT: files("good", "day"), OLDER: files("good")}
    with serving(
        {
            "own/open": Repository(whole, {"main": COMMIT, "v1": OLDER}),
            "own/gated": Repository({COMMIT: whole[COMMIT]}, token="hf_right"),
            "own/empty": Repository({COMMIT: {"config.json": b"{}"}}),
        }
    ) as served:
        yield served


@pytest.fixture
def rows(tmp_path: Path) -> str:
    messages = [{"role": "user", "content": "good day"}, {"role": "assistant", "content": "good good day"}]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"messages": messages}) + "\n")
    return str(path)


def cached(home: Path, name: str = "own/open", commit: str = COMMIT) -> Path:
    return home / "hf" / "hub" / f"models--{name.replace('/', '--')}" / "snapshots" / commit


def test_prefetch_downloads_the_processor_and_never_weights_or_code(hub: Hub, tmp_path: Path) -> None:
    run = hub.run(tmp_path, "--prefetch", "--model", "own/open")
    assert run.returncode == 0, run.stderr
    assert {path.name for path in cached(tmp_path).iterdir()} == PROCESSOR
    assert f"the processor of own/open is in {cached(tmp_path)}" in run.stdout
    assert all(name in run.stdout for name in PROCESSOR)
    assert not [path for path in hub.asked if "safetensors" in path or path.endswith(".py")]


def test_prefetch_asks_nothing_when_it_is_there(hub: Hub, tmp_path: Path) -> None:
    first = hub.run(tmp_path, "--prefetch", "--model", "own/open")
    hub.asked.clear()
    assert hub.run(tmp_path, "--prefetch", "--model", "own/open").stdout == first.stdout
    assert hub.asked == []


def test_a_hook_finds_everything_after_a_prefetch_and_asks_nothing(hub: Hub, tmp_path: Path, rows: str) -> None:
    settings = '[tool.lint-dataset]\nmodel = "own/open"\nmax-length = 6\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    cold = hub.run(tmp_path, "--offline", "--tokens", "exact", rows)
    assert cold.returncode == 2
    assert "lint-dataset --prefetch --model own/open" in cold.stdout + cold.stderr
    assert hub.asked == []
    assert hub.run(tmp_path, "--prefetch").returncode == 0
    hub.asked.clear()
    for _ in range(2):  # the first loads the processor, the second knows the row
        warm = hub.run(tmp_path, "--offline", "--output-format", "json", rows)
        # <user> good day </s> <assistant> good good day </s>
        assert json.loads(warm.stdout)["summary"]["tokens"]["most"] == 9
        assert hub.asked == []


def test_prefetch_needs_a_model_and_the_network(hub: Hub, tmp_path: Path) -> None:
    for arguments in ((), ("--model", "own/open", "--offline")):
        run = hub.run(tmp_path, "--prefetch", *arguments)
        assert run.returncode == 2
        assert len(run.stderr.splitlines()) == 1
    assert hub.asked == []


def test_a_gated_model_opens_with_the_right_token_only(hub: Hub, tmp_path: Path) -> None:
    for token in ({}, {"HF_TOKEN": "hf_wrong"}):
        run = hub.run(tmp_path, "--prefetch", "--model", "own/gated", **token)
        assert run.returncode == 2
        (line,) = run.stderr.splitlines()
        assert "own/gated is gated" in line
        assert f"{hub.address}/own/gated" in line
        assert "hf auth login" in line
        assert "--tokenizer FOLDER" in line
    run = hub.run(tmp_path, "--prefetch", "--model", "own/gated", HF_TOKEN="hf_right")
    assert run.returncode == 0, run.stderr
    assert {path.name for path in cached(tmp_path, "own/gated").iterdir()} == PROCESSOR


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("own/nothing",), "there is no model own/nothing on the Hub"),
        (("gema-3n-E2B",), "did you mean gemma-3n-E2B"),
        (("own/empty",), "own/empty holds no tokenizer"),
        (("own/open", "--revision", "v2"), "own/open has no revision v2"),
        (("own/open", "--revision", "no such"), "revision 'no such' is not the name of"),
        (("own/open", "--revision", "../main"), "revision '../main' is not the name of"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(hub: Hub, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    run = hub.run(tmp_path, "--prefetch", "--model", *arguments)
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    assert says in line


def test_no_network(tmp_path: Path) -> None:
    nowhere = Hub({}, address="http://127.0.0.1:9")
    run = nowhere.run(tmp_path, "--prefetch", "--model", "gemma-3n-E2B", HF_HUB_DOWNLOAD_TIMEOUT="2")
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    assert "could not be downloaded" in line
    assert "lint-dataset --prefetch --model google/gemma-3n-E2B-it" in line
    assert "--tokenizer unsloth/gemma-3n-E2B-it" in line


def test_a_slip_of_the_pen_is_answered_without_the_hub(hub: Hub, tmp_path: Path) -> None:
    run = hub.run(tmp_path, "--prefetch", "--model", "gemma-3n-E2")
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    assert "there is no model gemma-3n-E2 (did you mean gemma-3n-E2B" in line
    assert "--list-models" in line
    assert hub.asked == []


def test_nothing_is_suggested_for_a_repository_that_only_cannot_be_reached(tmp_path: Path) -> None:
    nowhere = Hub({}, address="http://127.0.0.1:9")
    begun = time.monotonic()
    run = nowhere.run(tmp_path, "--prefetch", "--model", "Qwen/Qwen3-4B-Thinking-2507")
    assert time.monotonic() - begun < 10  # a slow machine's start of Python, and one refused connection
    (line,) = run.stderr.splitlines()
    assert "could not be downloaded" in line
    assert "did you mean" not in line


def test_revisions_are_processors_of_their_own(hub: Hub, tmp_path: Path, rows: str) -> None:
    for revision in ("v1", OLDER):
        arguments = ("--model", "own/open", "--revision", revision, "--output-format", "json", rows)
        run = hub.run(tmp_path, *arguments)
        assert run.returncode == 0, run.stdout + run.stderr
        hub.asked.clear()
        assert hub.run(tmp_path, *arguments, "--offline").stdout == run.stdout
        assert hub.asked == []
    assert cached(tmp_path, commit=OLDER).is_dir()
    prints = {revision: located(hub, tmp_path, "own/open", revision) for revision in (None, "main", "v1", OLDER)}
    assert prints[None] == prints["main"] != prints["v1"] == prints[OLDER]


def located(hub: Hub, home: Path, name: str, revision: str | None) -> str:
    """The fingerprint of a processor, as a process of its own sees it."""
    program = (
        f"from lint_dataset.processors import locate; print(locate({name!r}, None, revision={revision!r}).fingerprint)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], env=hub.environment(home), capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


def test_a_folder_has_no_revisions(hub: Hub, tmp_path: Path) -> None:
    for name, content in files("good").items():
        (tmp_path / name).write_bytes(content)
    run = hub.run(tmp_path, "--prefetch", "--model", ".", "--revision", "v1")
    assert run.returncode == 2
    assert "--revision v1 is a version on the Hub, and . is a folder" in run.stderr


def test_a_connection_that_breaks_is_tried_again(hub: Hub, tmp_path: Path) -> None:
    whole = hub.repositories["own/open"].commits[COMMIT]["tokenizer.json"]
    hub.cut["tokenizer.json"] = len(whole) // 2
    hub.mends = True
    run = hub.run(tmp_path, "--prefetch", "--model", "own/open")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert [path.rpartition("/")[2] for path in hub.asked if path.startswith("GET")].count("tokenizer.json") == 2
    assert (cached(tmp_path) / "tokenizer.json").read_bytes() == whole


def test_a_connection_that_always_breaks_is_one_line(hub: Hub, tmp_path: Path) -> None:
    hub.cut["tokenizer.json"] = 10
    run = hub.run(tmp_path, "--prefetch", "--model", "own/open")
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    assert "could not be downloaded" in line
    hub.cut.clear()
    assert hub.run(tmp_path, "--prefetch", "--model", "own/open", HF_HUB_OFFLINE="1").returncode == 2


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_a_download_that_was_killed_is_never_taken_for_a_whole_one(hub: Hub, tmp_path: Path, name: str) -> None:
    hub.cut[name], hub.stalls = 10, True
    command = [sys.executable, "-m", "lint_dataset", "--prefetch", "--model", "own/open"]
    process = subprocess.Popen(command, cwd=tmp_path, env=hub.environment(tmp_path), stderr=subprocess.DEVNULL)
    others = PROCESSOR - {name}
    deadline = time.monotonic() + 60
    while not all((cached(tmp_path) / other).is_file() for other in others):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    hub.stalls = False
    hub.cut.clear()
    hub.asked.clear()
    offline = hub.run(tmp_path, "--prefetch", "--model", "own/open", HF_HUB_OFFLINE="1")
    assert offline.returncode == 2
    assert "is not whole in the Hugging Face cache" in offline.stderr
    assert hub.asked == []
    hub.asked.clear()
    assert hub.run(tmp_path, "--prefetch", "--model", "own/open").returncode == 0
    assert {path.name for path in cached(tmp_path).iterdir()} == PROCESSOR
    assert [path for path in hub.asked if path.startswith("GET /own/open/resolve")] == [
        f"GET /own/open/resolve/{COMMIT}/{name}"
    ]
    hub.asked.clear()
    assert hub.run(tmp_path, "--prefetch", "--model", "own/open").returncode == 0
    assert hub.asked == []


def test_a_broken_download_of_one_revision_leaves_another_alone(hub: Hub, tmp_path: Path) -> None:
    assert hub.run(tmp_path, "--prefetch", "--model", "own/open").returncode == 0
    hub.cut["tokenizer.json"] = 0
    assert hub.run(tmp_path, "--prefetch", "--model", "own/open", "--revision", "v1").returncode == 2
    hub.cut.clear()
    assert hub.run(tmp_path, "--prefetch", "--model", "own/open", HF_HUB_OFFLINE="1").returncode == 0
    run = hub.run(tmp_path, "--prefetch", "--model", "own/open", "--revision", "v1", HF_HUB_OFFLINE="1")
    assert run.returncode == 2
    assert hub.run(tmp_path, "--prefetch", "--model", "own/open", "--revision", "v1").returncode == 0
