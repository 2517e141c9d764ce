"""The machine that we are on: an NVIDIA card by ``nvidia-smi``, a Mac by ``sysctl``."""

from __future__ import annotations

import os
import re
import subprocess

from lint_dataset.machines import apple, cards
from lint_dataset.machines.machine import MIB, Machine
from lint_dataset.usage import UsageError

_SMI = ("nvidia-smi", "--format=csv,noheader,nounits")
#: What is asked of a card. Drivers before 470 do not know the last one.
_FIELDS = ("name", "memory.total", "memory.free", "compute_cap")


def present() -> Machine:
    """The first NVIDIA card that CUDA_VISIBLE_DEVICES lets a process see, or this Mac; with the memory free there.

    Raises ``UsageError`` where there is neither.
    """
    machine = _card() or _mac()
    if machine is None:
        raise UsageError(
            "device auto finds neither an NVIDIA card (nvidia-smi) nor Apple silicon (sysctl) here: "
            "name the machine that will train, such as --device t4 (--list-devices)"
        )
    return machine


def _card() -> Machine | None:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    chosen = (f"--id={visible}",) if visible else ()
    for fields in (_FIELDS, _FIELDS[:3]):
        lines = _output(*_SMI, f"--query-gpu={','.join(fields)}", *chosen).splitlines()
        found = [part.strip() for part in lines[0].split(",")] if lines else []
        if len(found) == len(fields) and found[1].isdigit() and found[2].isdigit():
            return _described(found[0], int(found[1]), int(found[2]), found[3] if len(found) > 3 else "")
    return None


def _described(title: str, total: int, free: int, compute: str) -> Machine:
    """A card by its title and its MiB: the one of the table where it is there, else one of its own name."""
    known = cards.titled(title, total)
    capability = re.fullmatch(r"(\d+)\.(\d+)", compute)
    return Machine(
        name=known.name if known else re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-"),
        title=title,
        kind="cuda",
        total=total * MIB,
        memory=free * MIB,
        compute=(int(capability[1]), int(capability[2])) if capability else (known.compute if known else None),
        source="nvidia-smi",
        said=f"{free:,} of the {total:,} MiB of this {title} are free",
    )


def _mac() -> Machine | None:
    lines = _output("sysctl", "-n", "hw.memsize", "machdep.cpu.brand_string").splitlines()
    if len(lines) != 2 or not lines[0].strip().isdigit():
        return None
    chip = re.fullmatch(r"apple (m\d+)(?: (pro|max|ultra))?", lines[1].strip().casefold())
    return apple.machine(chip[1], chip[2] or "", int(lines[0])) if chip else None


def _output(*command: str) -> str:
    """What a command prints; nothing where it is not there, fails, or takes ten seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
