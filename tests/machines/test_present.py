"""``--device auto`` on machines that are made up: commands of ours stand on PATH in the place of the system's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lint_dataset.plan import Plan, PlanError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, and no choice of cards."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return folder


def command(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_a_known_card_is_named_and_what_is_free_is_the_budget(commands: Path) -> None:
    command(commands, "nvidia-smi", 'echo "NVIDIA GeForce RTX 4090, 24564, 20123, 8.9"')
    plan = Plan(device="auto")
    assert (plan.device, plan.machine, plan.budget) == ("cuda", "rtx-4090", 20123 * 2**20)
    assert "20,123 of the 24,564 MiB" in plan.origins["budget"]


def test_a_card_that_is_not_in_the_table_goes_by_its_title(commands: Path) -> None:
    command(commands, "nvidia-smi", 'echo "NVIDIA A16, 15356, 15000, 8.6"')
    plan = Plan(device="auto")
    assert (plan.device, plan.machine, plan.machine_memory) == ("cuda", "nvidia-a16", 15000 * 2**20)
    # Another judgement of the same plan does not ask again.
    assert plan.but(trainer="hf").machine_memory == 15000 * 2**20


def test_an_old_driver_does_not_know_every_field(commands: Path) -> None:
    command(commands, "nvidia-smi", 'case "$*" in *compute_cap*) exit 2;; esac; echo "Tesla T4, 15109, 15000"')
    assert Plan(device="auto").machine == "t4"


def test_the_card_that_a_process_would_see_is_asked_for(commands: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(
        commands,
        "nvidia-smi",
        'case "$*" in *--id=3*) echo "NVIDIA L4, 23034, 100, 8.9";; *) echo "Tesla T4, 15360, 9, 7.5";; esac',
    )
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    assert Plan(device="auto").machine == "l4"


@pytest.mark.parametrize("chip", ["Apple M3", "Apple M3 Max"])
def test_a_mac_is_its_chip_and_its_memory(commands: Path, chip: str) -> None:
    command(
        commands, "sysctl", f'[ "$*" = "-n hw.memsize machdep.cpu.brand_string" ] && printf "38654705664\\n{chip}\\n"'
    )
    plan = Plan(device="auto")
    assert plan.device == "mps"
    assert plan.machine == chip.removeprefix("Apple ").lower().replace(" ", "-") + "-36gb"
    assert plan.budget == 38654705664 * 3 // 4


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("nvidia-smi", "echo No devices were found; exit 6"),
        ("nvidia-smi", "echo No devices were found"),
        ("nvidia-smi", 'echo "NVIDIA GB10, [N/A], [N/A], 12.1"'),
        ("sysctl", 'echo 17179869184; echo "Intel(R) Core(TM) i7"'),
        ("sysctl", "echo unknown oid >&2; exit 1"),
        ("unrelated", "exit 0"),
    ],
)
def test_where_nothing_is_found_one_line_says_what_to_do(commands: Path, name: str, script: str) -> None:
    command(commands, name, script)
    with pytest.raises(PlanError, match="--list-devices") as raised:
        Plan(device="auto")
    assert "\n" not in str(raised.value)


def test_on_the_command_line_nothing_found_is_status_2(commands: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lint_dataset", "--show-plan", "--device", "auto"],
        capture_output=True,
        text=True,
        cwd=commands,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
