"""Machines by name: real memory, budgets that follow, and remarks on what a machine does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_dataset import lint
from lint_dataset.machines import cards, find
from lint_dataset.machines.remarks import remarks
from lint_dataset.plan import Plan, PlanError, resolve, show
from lint_dataset.report.devices import list_devices, page

GIB = 2**30


def test_no_card_gives_a_process_more_than_its_driver_shows_or_its_box_says() -> None:
    for card in cards.CARDS:
        machine = cards.machine(card)
        assert machine.memory < machine.total
        # Drivers keep under a gigabyte, and a tenth of the smallest card.
        assert machine.total - machine.memory < min(10**9, 0.1 * machine.total)
        assert abs(machine.total / (card.size * GIB) - 1) < 0.07
        assert card.source


def test_every_card_is_found_by_its_own_name_alone() -> None:
    names = [card.name for card in cards.CARDS]
    assert len(set(names)) == len(names)
    for card in cards.CARDS:
        found = find(card.name)
        assert found is not None
        assert found.name == card.name


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("T4", "t4"),
        ("RTX 4090", "rtx-4090"),
        ("rtx4090", "rtx-4090"),
        ("4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 3060", "rtx-3060"),
        ("a100-40", "a100-40gb"),
        ("A100 SXM4 80GB", "a100-80gb"),
        ("RTX A6000", "a6000"),
        ("RTX 6000 Ada Generation", "rtx-6000-ada"),
        ("RTX Pro 6000", "rtx-pro-6000"),
        ("Apple M3 36GB", "m3-36gb"),
        ("m4_max_48", "m4-max-48gb"),
    ],
)
def test_a_name_is_found_however_it_is_spelled(spelled: str, name: str) -> None:
    machine = find(spelled)
    assert machine is not None
    assert machine.name == name


@pytest.mark.parametrize(
    ("title", "mebibytes", "name"),
    [
        ("Tesla T4", 15360, "t4"),
        ("NVIDIA A100-SXM4-40GB", 40960, "a100-40gb"),
        ("NVIDIA A100 80GB PCIe", 81920, "a100-80gb"),
        ("NVIDIA H100 80GB HBM3", 81559, "h100"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 97887, "rtx-pro-6000"),
        ("NVIDIA GeForce RTX 4060 Ti", 16380, "rtx-4060-ti-16gb"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16376, None),
        ("NVIDIA A16", 15356, None),
    ],
)
def test_a_card_is_known_by_what_nvidia_smi_calls_it(title: str, mebibytes: int, name: str | None) -> None:
    card = cards.titled(title, mebibytes)
    assert (card.name if card else None) == name


def test_a_card_brings_its_memory_as_the_budget_and_stays_cuda_for_recipes() -> None:
    plan = resolve({"device": "t4"}, {})
    assert (plan.device, plan.machine) == ("cuda", "t4")
    assert plan.budget == plan.machine_memory == 14912 * 2**20
    assert "t4: 15,360 MiB" in plan.origins["budget"]
    assert "t4: 15,360 MiB" in show(plan)
    assert plan.origins["device"] == plan.origins["machine"] == "command line"


def test_a_laptop_leaves_a_quarter_to_its_system() -> None:
    plan = Plan(device="m3-36gb")
    assert (plan.device, plan.budget) == ("mps", 27 * GIB)
    assert "27 GiB" in plan.origins["budget"]
    assert remarks(plan) == []


def test_a_given_budget_wins_and_is_kept_by_another_device() -> None:
    plan = Plan(device="t4", budget="10GB")  # type: ignore[arg-type]
    assert plan.budget == 10**10
    assert plan.but(device="mps").budget == 10**10


def test_a_budget_that_came_with_a_machine_goes_with_it() -> None:
    plan = Plan(model="m", device="t4")
    assert plan.but(trainer="hf").budget == plan.budget
    assert plan.but(trainer="hf").machine == "t4"
    other = plan.but(device="mps")
    assert (other.budget, other.machine, other.machine_memory) == (None, None, None)
    assert plan.but(device="m3-36gb").budget == 27 * GIB
    assert plan.but(budget=None).budget is None


def test_what_is_no_machine_is_one_line_with_what_could_be_meant() -> None:
    for name, meant in (("a100", "a100-80gb"), ("rtx-9090", "rtx-"), ("m9-8gb", "--list-devices"), ("", "cuda")):
        with pytest.raises(PlanError, match=meant) as raised:
            Plan(device=name)
        assert "\n" not in str(raised.value)


def test_a_budget_above_the_machine_is_remarked_on() -> None:
    [said] = remarks(Plan(device="rtx-4090", budget="26GB"))  # type: ignore[arg-type]
    assert "26.0 GB is more than" in said
    assert remarks(Plan(device="rtx-4090", budget="20GB")) == []  # type: ignore[arg-type]
    [said] = remarks(Plan(device="m3-36gb", budget="34GB"))  # type: ignore[arg-type]
    assert "less than a quarter" in said
    assert remarks(Plan(device="cuda", budget="999GB")) == []  # type: ignore[arg-type]


def test_bf16_on_a_card_without_it_is_remarked_on() -> None:
    [said] = remarks(Plan(device="t4"))
    assert "--dtype bf16 and --mixed-precision bf16" in said
    assert "lower bounds" in said
    assert said.endswith("say --dtype fp16 --mixed-precision fp16")
    [said] = remarks(Plan(device="t4", dtype="fp16", mixed_precision="fp16"))
    assert "one example alone" in said
    assert remarks(Plan(device="t4", dtype="fp16", mixed_precision="fp16", batch_size=2)) == []
    assert remarks(Plan(device="l4")) == []


def test_the_list_and_the_page_name_every_card_and_chip() -> None:
    for text in (list_devices(), page()):
        for card in cards.CARDS:
            assert card.name in text
        assert "m5" in text
    docs = Path(__file__).parents[2] / "docs" / "devices.md"
    assert docs.read_text(encoding="utf-8") == page(), "python -m lint_dataset.report.devices > docs/devices.md"


def test_a_run_says_what_its_machine_lacks_before_anything_else(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text('{"text": "hi"}\n')
    result = lint([str(tmp_path / "train.jsonl")], Plan(device="t4", budget="20GB"), use_cache=False)  # type: ignore[arg-type]
    assert ["more than there is" in result.notes[0], "no bf16" in result.notes[1]] == [True, True]
