"""What a device holds besides tensors, and which allocator hands them out."""

from __future__ import annotations

from dataclasses import dataclass

from lint_dataset import machines
from lint_dataset.plan import Plan

MIB = 2**20


@dataclass(frozen=True)
class Device:
    """A device that trains.

    ``context`` are the bytes that the process holds outside the allocator: the CUDA context with the kernels that were
    loaded, or what Metal's driver keeps; on another card of the kind they may be as few as ``least_context``.
    ``workspace`` are the bytes of one cuBLAS workspace, which PyTorch takes from its caching allocator, once for the
    thread that runs forward and once for the one that runs backward. ``caching`` is whether peaks follow from the model
    of the CUDA allocator.
    """

    context: int
    least_context: int
    workspace: int
    caching: bool


#: PyTorch's default of ``:4096:2:16:8`` (aten/src/ATen/cuda/CublasHandlePool.cpp).
_WORKSPACE = (2 * 4096 + 8 * 16) * 1024
#: The same file's choice for compute capability 9, 10 and 12: Hopper and Blackwell.
_WORKSPACE_HOPPER = 32 * MIB

DEVICES: dict[str, Device] = {
    # Measured around 53 runs by the author of fitcheck (PyPI): 140.9 MiB beside what PyTorch reserved.
    "t4": Device(141 * MIB, 141 * MIB, _WORKSPACE, True),
    # Measured around 13 runs by the author of vramcalc (PyPI): 0.745 GB outside the allocator, CUDA 13.
    "a6000": Device(745_000_000, 745_000_000, _WORKSPACE, True),
    # A card that is not named: the larger of the two contexts measured, so that a verdict of "fits" can be trusted, and
    # the smaller one before a row is said to be over.
    "cuda": Device(745_000_000, 141 * MIB, _WORKSPACE, True),
    # Hopper and Blackwell cards.
    "hopper": Device(745_000_000, 141 * MIB, _WORKSPACE_HOPPER, True),
    # PyTorch's MPS allocator (aten/src/ATen/mps/MPSAllocator.mm) caches whole buffers by size, neither splitting nor
    # merging them, and gives cached ones back to Metal when it nears its limit: what it reserves depends on the limit
    # more than on the need, and the need is what the tensors hold. Half a gigabyte is assumed for Metal's driver and
    # the compiled graphs; nobody has measured it yet.
    "mps": Device(500_000_000, 0, 0, False),
}


#: The compute capability of Hopper. Blackwell's are higher.
_HOPPER = (9, 0)


def find(name: str) -> Device:
    """The device of that name; a CUDA card that is not listed counts as an unnamed one of its architecture."""
    if name.casefold() in DEVICES:
        return DEVICES[name.casefold()]
    machine = machines.find(name)
    return DEVICES["hopper" if machine is not None and (machine.compute or (0, 0)) >= _HOPPER else "cuda"]


def of(plan: Plan) -> Device:
    """The device of a plan: that of its machine where it names a card."""
    return find(plan.machine if plan.machine is not None and plan.device == "cuda" else plan.device)
