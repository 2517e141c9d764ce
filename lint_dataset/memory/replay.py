"""A training process in the caching allocator: loading leaves the weights, then steps come, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lint_dataset.memory.allocator import Block, CachingAllocator
from lint_dataset.memory.devices import Device
from lint_dataset.memory.program import ParameterGroup, StepProgram

#: AdamW keeps a running mean and a running square of each trained tensor, in its type, and the fused one its step
#: count as a 32-bit float on the device.
ADAM_STATES = 2
STEP_BYTES = 4


def tensor_bytes(group: ParameterGroup, rank: int) -> list[int]:
    """Bytes of each tensor of a group for a LoRA rank, before rounding."""
    return [-int(-(constant + per_rank * rank) * group.bytes_per_element // 1) for constant, per_rank in group.numbers]


class Process:
    """One training process. The optimizer's states and cuBLAS workspaces appear when its first step needs them."""

    def __init__(self, groups: Sequence[ParameterGroup], rank: int, device: Device, limit: int | None = None) -> None:
        """Load the weights. ``limit`` is what the allocator may reserve. Raises ``OutOfMemory``."""
        self.allocator = CachingAllocator(limit)
        self._workspace = device.workspace
        self._trained: list[int] = []
        self._stepped = False
        for group in groups:
            tensors = tensor_bytes(group, rank)
            self._load(group, rank, tensors)
            if group.trained:
                self._trained += tensors

    def _load(self, group: ParameterGroup, rank: int, tensors: Iterable[int]) -> None:
        allocate, release = self.allocator.allocate, self.allocator.release
        for size, (constant, per_rank) in zip(tensors, group.numbers, strict=True):
            if not size:
                continue
            if group.bytes_per_element < 1:
                # A weight is quantised on the device: it comes in two bytes an element, which are freed afterwards.
                whole = allocate(2 * (constant + per_rank * rank))
                allocate(size)
                release(whole)
            else:
                allocate(size)

    def step(self, program: StepProgram, sizes: Sequence[int]) -> None:
        """Run one step of a program, ``sizes`` the bytes of each of its kinds. Raises ``OutOfMemory``."""
        events = program.events.tolist()
        living: list[Block | None] = []
        start = 0
        for name in ("forward", "backward", "optimizer"):
            mark = program.marks.get(name)
            if mark is None:
                continue
            self.allocator.play(events[start:mark], sizes, living)
            start = mark
            if not self._stepped:
                self._first_time(name)
        self.allocator.play(events[start:], sizes, living)
        self._stepped = True

    def _first_time(self, phase: str) -> None:
        if phase == "optimizer":
            for size in self._trained:
                for state in (STEP_BYTES, *[size] * ADAM_STATES):
                    self.allocator.allocate(state)
        elif self._workspace:
            self.allocator.allocate(self._workspace)
