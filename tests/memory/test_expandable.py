"""Expandable segments against sequences worked out by hand from PyTorch's source, and against plain bookkeeping."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lint_dataset.memory.allocator import MIB, Block, CachingAllocator, OutOfMemory
from lint_dataset.memory.expandable import ExpandableAllocator
from tests.memory.made import random_program


def test_memory_comes_in_pages_of_20_mib_and_of_2_for_small_requests() -> None:
    allocator = ExpandableAllocator()
    allocator.allocate(21 * MIB)
    assert (allocator.allocated, allocator.reserved) == (21 * MIB, 40 * MIB)
    # The 19 MiB that are left of the second page serve 18; another 5 need a third page for 4 of them only.
    allocator.allocate(18 * MIB)
    assert allocator.reserved == 40 * MIB
    allocator.allocate(5 * MIB)
    assert allocator.reserved == 60 * MIB
    allocator.allocate(1 * MIB)
    assert allocator.reserved == 62 * MIB
    allocator.allocate(1 * MIB)
    allocator.allocate(512)
    assert allocator.reserved == 64 * MIB


def test_a_request_grows_from_the_free_end_of_what_is_there() -> None:
    """What needs a segment of its own in the default allocator, however much is free before it."""
    fixed, expandable = CachingAllocator(), ExpandableAllocator()
    for allocator in (fixed, expandable):
        allocator.release(allocator.allocate(60 * MIB))
        allocator.allocate(80 * MIB)
    assert (fixed.reserved, expandable.reserved) == (140 * MIB, 80 * MIB)


def test_large_blocks_are_split_down_to_512_bytes() -> None:
    # The default allocator hands out all of a segment of 12 MiB here: see the test of it.
    allocator = ExpandableAllocator()
    block = allocator.allocate(19 * MIB)
    assert block.size == 19 * MIB
    rest = allocator.allocate(1 * MIB + 512)
    assert rest.address == 20 * MIB + 19 * MIB - 20 * MIB
    assert allocator.reserved == 40 * MIB


def test_a_hole_is_taken_before_a_smaller_block_that_can_grow() -> None:
    """The one at the end is smaller, but counts as large as it can become."""
    allocator = ExpandableAllocator()
    hole, wall, end = (allocator.allocate(size * MIB) for size in (30, 5, 25))
    allocator.release(hole)
    allocator.release(end)
    assert allocator.allocate(20 * MIB).address == hole.address
    assert allocator.allocate(20 * MIB).address == end.address
    allocator.release(wall)


def test_what_is_given_back_are_whole_pages_also_from_the_midst() -> None:
    allocator = ExpandableAllocator()
    low, middle, high = (allocator.allocate(size * MIB) for size in (10, 75, 15))
    assert allocator.reserved == 100 * MIB
    allocator.release(middle)
    # Free are 10 to 85 MiB: whole pages are 20 to 80.
    allocator.empty_cache()
    assert allocator.reserved == 40 * MIB
    # 9 MiB fit into the free 10 before the gap and leave one of them; 12 grow from that into it: a page.
    first = allocator.allocate(9 * MIB)
    assert (first.address, allocator.reserved) == (10 * MIB, 40 * MIB)
    second = allocator.allocate(12 * MIB)
    assert (second.address, allocator.reserved) == (19 * MIB, 60 * MIB)
    # 64 have no room before the block at 85 MiB (31 to 85 are free or without memory): they go behind, from 100 on.
    behind = allocator.allocate(64 * MIB)
    assert (behind.address, allocator.reserved) == (100 * MIB, 140 * MIB)
    for block in (low, high, first, second, behind):
        allocator.release(block)
    allocator.empty_cache()
    assert (allocator.reserved, allocator.allocated) == (0, 0)
    assert allocator.allocate(200 * MIB).address == 0


def test_a_gap_between_blocks_is_filled_before_the_end_grows() -> None:
    allocator = ExpandableAllocator()
    low, gap, high = (allocator.allocate(size * MIB) for size in (20, 40, 20))
    allocator.release(gap)
    allocator.empty_cache()
    assert allocator.reserved == 40 * MIB
    assert allocator.allocate(25 * MIB).address == 20 * MIB
    assert allocator.reserved == 80 * MIB
    allocator.release(low)
    allocator.release(high)


def test_at_the_limit_pages_are_given_back_and_the_request_tried_again() -> None:
    allocator = ExpandableAllocator(limit=100 * MIB)
    low, high = allocator.allocate(50 * MIB), allocator.allocate(30 * MIB)
    allocator.release(low)
    # 0 to 50 are free; 70 would have to go behind 80, so 80 to 160 are asked for. Given back: 0 to 40. 60 are left.
    with pytest.raises(OutOfMemory):
        allocator.allocate(70 * MIB)
    assert allocator.reserved == 40 * MIB
    # 50 fit before the block at 50 MiB.
    assert allocator.allocate(50 * MIB).address == 0
    assert (allocator.reserved, allocator.peak_reserved) == (80 * MIB, 80 * MIB)
    allocator.release(high)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_whatever_is_played_no_two_blocks_overlap_and_bytes_are_kept_account_of(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = random_program(rng)
    sizes = rng.integers(0, 2 ** rng.integers(1, 27), len(made.coefficients)).tolist()
    allocator = ExpandableAllocator()
    living: list[Block | None] = []
    events = made.events.tolist()
    middle = len(events) // 2
    allocator.play(events[:middle], sizes, living)
    allocator.empty_cache()
    allocator.play(events[middle:], sizes, living)
    peak, needed = allocator.peak_reserved, allocator.peak_allocated
    assert needed <= peak
    assert allocator.allocated == 0
    assert sum(size for pool in (allocator._small, allocator._large) for size, _, _ in pool) == allocator.reserved
    allocator.empty_cache()
    assert allocator.reserved == 0
    again = ExpandableAllocator(limit=2 * peak)
    again.play(events, sizes, [])
    if needed:
        with pytest.raises(OutOfMemory):
            ExpandableAllocator(limit=needed - 1).play(events, sizes, [])


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_living_blocks_never_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    allocator = ExpandableAllocator()
    alive: list[Block] = []
    for _ in range(300):
        choice = rng.random()
        if choice < 0.5 or not alive:
            alive.append(allocator.allocate(int(rng.integers(2 * MIB, 70 * MIB))))
        elif choice < 0.97:
            allocator.release(alive.pop(int(rng.integers(len(alive)))))
        else:
            allocator.empty_cache()
        ranges = sorted((block.address, block.address + block.size) for block in alive)
        assert all(end <= start for (_, end), (start, _) in pairwise(ranges))
        assert allocator.allocated == sum(block.size for block in alive)
        pages = {page for low, high in ranges for page in range(low // (20 * MIB), -(-high // (20 * MIB)))}
        assert len(pages) * 20 * MIB <= allocator.reserved
