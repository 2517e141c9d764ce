"""A training process in the caching allocator: loading leaves the weights, then steps come, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lint_dataset.memory.allocator import Block, CachingAllocator
from lint_dataset.memory.devices import Device
from lint_dataset.memory.expandable import ExpandableAllocator
from lint_dataset.memory.optimizers import states
from lint_dataset.memory.program import ParameterGroup, StepProgram

#: The groups that hold the scales of 4-bit weights, in the order of those, and LoRA's adapters.
SCALES = "4-bit scales"
ADAPTERS = "adapters"


def tensor_bytes(group: ParameterGroup, rank: int) -> list[int]:
    """Bytes of each tensor of a group for a LoRA rank, before rounding."""
    return [-int(-(constant + per_rank * rank) * group.bytes_per_element // 1) for constant, per_rank in group.numbers]


def _each(groups: Sequence[ParameterGroup], rank: int) -> list[tuple[float, int]]:
    """Bytes of an element and bytes in all, of each tensor that is not empty."""
    return [(group.bytes_per_element, size) for group in groups for size in tensor_bytes(group, rank) if size]


@dataclass(frozen=True)
class Loading:
    """How a model comes to the device.

    ``mapped`` is whether transformers loads with a ``device_map``, as it always does with 4-bit weights and as TRL asks
    it to on CUDA. It then first asks for one piece of memory as large as the model will be, and frees it
    (``caching_allocator_warmup``). Otherwise each tensor is moved for itself.

    ``ahead`` are the tensors that arrive before the one that is being packed to 4 bits: none since transformers 5.4.
    From 5.0 on four threads brought them without waiting for the packing, so that runs of one plan differ (pull
    request 44576).

    ``clears`` is whether PEFT gives cached memory back after turning weights into fp32, as it does since 0.20.
    """

    mapped: bool = False
    ahead: int = 0
    clears: bool = True


class Process:
    """One training process. The optimizer's states and cuBLAS workspaces appear when its first step needs them."""

    def __init__(
        self,
        groups: Sequence[ParameterGroup],
        rank: int,
        device: Device,
        limit: int | None = None,
        *,
        loading: Loading = Loading(),
        optimizer: str = "adamw",
        expandable: bool = False,
    ) -> None:
        """Load the weights. ``limit`` is what the allocator may reserve. Raises ``OutOfMemory``.

        ``expandable`` is whether the process was started with expandable segments.
        """
        self.allocator = ExpandableAllocator(limit) if expandable else CachingAllocator(limit)
        self._workspace = device.workspace
        self._states = states(optimizer, groups, rank)
        self._stepped = False
        packed = [group for group in groups if group.bytes_per_element < 1]
        model = [group for group in groups if group.name != ADAPTERS]
        if packed:
            self._load_packed(packed, [group for group in model if group not in packed], rank, loading)
        else:
            sizes = [size for _, size in _each(model, rank)]
            if loading.mapped and sizes:
                self.allocator.release(self.allocator.allocate(sum(sizes)))
            for size in sizes:
                self.allocator.allocate(size)
        for _, size in _each([group for group in groups if group.name == ADAPTERS], rank):
            self.allocator.allocate(size)

    def _load_packed(
        self, packed: Sequence[ParameterGroup], others: Sequence[ParameterGroup], rank: int, loading: Loading
    ) -> None:
        """Put a model with 4-bit weights on the device, with the holes that this leaves.

        Weights arrive in two bytes an element and are packed there, each beside its scales and levels. Where PEFT then
        turns the weights that are not packed into fp32, each is there twice for a moment.
        """
        allocate, release = self.allocator.allocate, self.allocator.release
        scales = [size for group in others if group.name == SCALES for size in tensor_bytes(group, rank)]
        rest = [group for group in others if group.name != SCALES]
        arriving = [(min(width, 2) / width, size) for width, size in _each(rest, rank)]
        weights = _each(packed, rank)
        release(allocate(sum(size for _, size in weights) + sum(int(part * size) for part, size in arriving)))
        there = [(allocate(int(part * size)), part, size) for part, size in arriving]
        beside = len(scales) // len(weights)
        whole: list[Block] = []
        for i, (_, size) in enumerate(weights):
            whole += [allocate(int(2 * n / width)) for width, n in weights[len(whole) : i + 1 + loading.ahead]]
            for held in (*scales[i * beside : (i + 1) * beside], size):
                allocate(held)
            release(whole[i])
        for block, part, size in there:
            if part < 1:
                allocate(size)
                release(block)
        if loading.clears and any(part < 1 for _, part, _ in there):
            self.allocator.empty_cache()

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
            for state in self._states:
                self.allocator.allocate(state)
        elif self._workspace:
            self.allocator.allocate(self._workspace)
