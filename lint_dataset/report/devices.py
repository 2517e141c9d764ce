"""The machines that ``--device`` knows, for people to read: on the terminal and in docs/devices.md.

``python -m lint_dataset.report.devices > docs/devices.md`` writes the latter.
"""

from __future__ import annotations

from typing import Any

from lint_dataset.machines import Machine, apple, cards
from lint_dataset.machines.machine import GIB, MIB

_PAGE = """# Devices

`--device` takes `cuda`, `mps`, the name of a machine, or `auto`: the machine that the command runs on. A machine brings
its own budget, which `--budget` overrides; `--show-plan` says where it came from. However the name is spelled
(`RTX 4090`, `rtx-4090`, `4090`), it is found. `lint-dataset --list-devices` prints these tables.

`auto` asks `nvidia-smi` for the first card that `CUDA_VISIBLE_DEVICES` lets it see, and takes what is *free* there as
the budget; on a Mac it asks `sysctl` for the chip and its memory. A card that is not in the table is judged as `cuda`.

## NVIDIA

`nvidia-smi` shows all memory of a card; the driver keeps part of it. What it gives to a process is what PyTorch reports
(`torch.cuda.get_device_properties(0).total_memory`), and that is the budget. It differs by up to 200 MiB between
drivers: here is the least that was found on Linux. A desktop on the card takes its share besides: `auto` sees it.

bf16 needs compute capability 8.0. Below, PyTorch emulates it, and its attention kernels that keep no scores in memory
do not take it (`aten/src/ATen/native/transformers/cuda/sdp_utils.cpp`: FlashAttention needs 8.0, the memory-efficient
kernel takes fp16 and fp32 below). A plan with bf16 on such a card is noted: its long rows need more than is said.

{cards}

## Apple silicon

A chip and the size of its memory: `m3-36gb`, `m4-max-48gb`; any size from 8 to 512 is taken at its word. GPU and system
share the memory. The budget is three quarters of it: 27 GiB of 36. A larger one is noted, as it leaves the system less
than a quarter. Sizes are binary, as `sysctl hw.memsize` reports them.

| chip | sold with, GB |
|---|---|
{apple}

## Sources

Public logs are those of programs that print what PyTorch or `nvidia-smi` reports, such as
`CUDA:0 (NVIDIA L4, 22563MiB)` and `NVIDIA GeForce RTX 4080, 16376 MiB`. Three quarters is what Metal recommends as the
most on Macs with much memory (`recommendedMaxWorkingSetSize`: 73,728 MiB of 96 GB,
github.com/ggml-org/llama.cpp/issues/3213); with less it recommends two thirds (21,845 MiB of 32 GB, pull request 2011
there). PyTorch lets a process go beyond.
"""


def list_devices() -> str:
    """A line a card, its budget in MiB and what nvidia-smi shows; then the chips of Apple and the sizes sold."""
    lines = [f"{'cuda':18} any NVIDIA card: give its --budget", f"{'mps':18} any Apple silicon: give its --budget"]
    lines.append(f"{'auto':18} this machine, with the memory that is free here")
    for card in _cards():
        lines.append(f"{card.name:18} {card.memory // MIB:>9,} MiB of {card.total // MIB:,}")
    for chip, sizes in apple.SIZES.items():
        first = apple.machine(chip, "", sizes[0] * GIB).name
        lines.append(f"{chip + '[-pro|-max|-ultra]-SIZE':27} such as {first}; sold with {_joined(sizes)} GB")
    return "\n".join(lines) + "\n"


def objects() -> list[dict[str, Any]]:
    """The cards with their memory in bytes and compute capability, and Apple's chips with the sizes sold, for tools."""
    found: list[dict[str, Any]] = [
        {"device": card.name, "kind": "cuda", "memory": card.memory, "total": card.total, "compute": card.compute}
        for card in _cards()
    ]
    return found + [{"chip": chip, "kind": "mps", "sizes_gib": sizes} for chip, sizes in apple.SIZES.items()]


def page() -> str:
    """The whole of docs/devices.md."""
    rows = ["| `--device` | nvidia-smi, MiB | budget, MiB | compute | source |", "|---|---:|---:|---|---|"]
    for card in _cards():
        compute = ".".join(map(str, card.compute or ()))
        rows.append(f"| `{card.name}` | {card.total // MIB:,} | {card.memory // MIB:,} | {compute} | {card.source} |")
    chips = [f"| {chip} | {_joined(sizes)} |" for chip, sizes in apple.SIZES.items()]
    return _PAGE.format(cards="\n".join(rows), apple="\n".join(chips))


def _cards() -> list[Machine]:
    return [cards.machine(card) for card in cards.CARDS]


def _joined(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))


if __name__ == "__main__":
    print(page(), end="")
