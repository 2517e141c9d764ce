"""Apple silicon by chip and memory: ``m3-36gb``, ``m4-max-48gb``.

The memory is what macOS reports (``sysctl hw.memsize``), binary gigabytes: a Mac of 36 GB has 36 x 2**30 bytes. GPU
and system share it. Metal recommends to use two thirds of it up to 32 GB and three quarters above
(``recommendedMaxWorkingSetSize``: 21,845 MiB of 32 GB, 73,728 MiB of 96 GB in github.com/ggml-org/llama.cpp, pull
request 2011 and issue 3213); PyTorch lets a process go beyond that.
"""

from __future__ import annotations

import re

from lint_dataset.machines.machine import GIB, Machine

#: Sizes that each generation is sold with, in GB, as a help for those who look for their machine.
SIZES: dict[str, tuple[int, ...]] = {
    "m1": (8, 16, 32, 64, 128),
    "m2": (8, 16, 24, 32, 64, 96, 128, 192),
    "m3": (8, 16, 18, 24, 36, 48, 64, 96, 128, 256, 512),
    "m4": (16, 24, 32, 36, 48, 64, 128),
    "m5": (16, 24, 32, 36, 48, 64, 128),
}

_NAME = re.compile(r"(?:apple)?(m\d)(pro|max|ultra)?(\d{1,3})(?:gb|gib)?")


def find(name: str) -> Machine | None:
    """The Apple machine of a name such as ``m3-36gb`` or ``M4 Max 48GB``, or None.

    Any size is taken at its word.
    """
    match = _NAME.fullmatch(re.sub(r"[\s_\-]", "", name.casefold()))
    if match is None or match[1] not in SIZES or not 8 <= int(match[3]) <= 512:
        return None
    return machine(match[1], match[2] or "", int(match[3]) * GIB)


def machine(chip: str, variant: str, memory: int) -> Machine:
    """The machine of a chip (``m3``), a variant of it (``max``, or nothing) and so many bytes."""
    size = f"{memory / GIB:.0f}"
    return Machine(
        name="-".join(part for part in (chip, variant, f"{size}gb") if part),
        title=" ".join(part for part in ("Apple", chip.upper(), variant.capitalize()) if part),
        kind="mps",
        total=memory,
        memory=memory,
        compute=None,
        source="sysctl hw.memsize",
        said=f"{memory * 3 / 4 / GIB:.4g} GiB, three quarters of the {size} GiB that it shares with the system",
    )
