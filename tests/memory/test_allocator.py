"""The allocator against sequences worked out by hand from the rules of PyTorch's CUDA caching allocator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lint_dataset.memory.allocator import MIB, Block, CachingAllocator, OutOfMemory
from tests.memory.made import random_program


def test_a_small_request_opens_a_segment_of_2_mib_that_the_next_one_shares() -> None:
    allocator = CachingAllocator()
    allocator.allocate(1)
    assert (allocator.allocated, allocator.reserved) == (512, 2 * MIB)
    allocator.allocate(513)
    assert (allocator.allocated, allocator.reserved) == (512 + 1024, 2 * MIB)


@pytest.mark.parametrize(
    ("size", "segment"),
    [
        (1 * MIB, 2 * MIB),
        (1 * MIB + 1, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 1, 12 * MIB),
        (12 * MIB, 12 * MIB),
    ],
)
def test_the_segment_asked_of_the_driver(size: int, segment: int) -> None:
    allocator = CachingAllocator()
    allocator.allocate(size)
    assert allocator.reserved == segment


def test_a_large_block_keeps_a_rest_of_up_to_1_mib() -> None:
    # 11 MiB take a segment of 12: the rest of exactly 1 MiB is not split off, so it counts as allocated.
    allocator = CachingAllocator()
    allocator.allocate(11 * MIB)
    assert (allocator.allocated, allocator.reserved) == (12 * MIB, 12 * MIB)
    # 512 bytes fewer leave more than 1 MiB: the rest is split off and serves 1 MiB + 512, which just fits.
    allocator = CachingAllocator()
    allocator.allocate(11 * MIB - 512)
    assert allocator.allocated == 11 * MIB - 512
    allocator.allocate(1 * MIB + 512)
    assert (allocator.allocated, allocator.reserved) == (12 * MIB, 12 * MIB)


def test_small_requests_do_not_come_from_large_segments() -> None:
    allocator = CachingAllocator()
    allocator.release(allocator.allocate(20 * MIB))
    allocator.allocate(512)
    assert allocator.reserved == 22 * MIB


def test_the_smallest_block_that_fits_is_taken() -> None:
    allocator = CachingAllocator()
    big, middle = allocator.allocate(30 * MIB), allocator.allocate(14 * MIB)
    allocator.release(big)
    allocator.release(middle)
    # 13 MiB go into the 14, whose rest of 1 MiB stays with it; 16 go into the 30; 14 into the rest of that.
    allocator.allocate(13 * MIB)
    allocator.allocate(16 * MIB)
    allocator.allocate(14 * MIB)
    assert (allocator.allocated, allocator.reserved) == (44 * MIB, 44 * MIB)


def test_of_equal_blocks_the_youngest_segment_is_taken_first() -> None:
    # The driver places each segment below the last, and of equal free blocks PyTorch takes that at the lowest address.
    allocator = CachingAllocator()
    old, young = allocator.allocate(12 * MIB), allocator.allocate(12 * MIB)
    allocator.release(old)
    allocator.release(young)
    assert allocator.allocate(12 * MIB).address == young.address


def test_freed_neighbours_merge_whichever_goes_first() -> None:
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        allocator = CachingAllocator()
        blocks = [allocator.allocate(size) for size in (6 * MIB, 6 * MIB, 8 * MIB)]
        assert allocator.reserved == 20 * MIB
        for i in order:
            allocator.release(blocks[i])
        allocator.allocate(20 * MIB)
        assert allocator.reserved == 20 * MIB, order


def test_a_hole_between_living_blocks_serves_only_what_fits_it() -> None:
    allocator = CachingAllocator()
    blocks = [allocator.allocate(size) for size in (6 * MIB, 6 * MIB, 8 * MIB)]
    allocator.release(blocks[1])
    allocator.allocate(7 * MIB)
    assert allocator.reserved == 40 * MIB


def test_segments_are_kept_and_used_again() -> None:
    allocator = CachingAllocator()
    for _ in range(3):
        allocator.release(allocator.allocate(50 * MIB))
    assert (allocator.allocated, allocator.reserved, allocator.peak_reserved) == (0, 50 * MIB, 50 * MIB)


def test_at_the_limit_what_is_cached_is_given_back_and_the_request_tried_again() -> None:
    allocator = CachingAllocator(limit=100 * MIB)
    allocator.release(allocator.allocate(60 * MIB))
    allocator.allocate(90 * MIB)
    assert (allocator.reserved, allocator.peak_reserved) == (90 * MIB, 90 * MIB)


def test_a_segment_with_a_living_block_cannot_be_given_back() -> None:
    allocator = CachingAllocator(limit=100 * MIB)
    first, second = allocator.allocate(30 * MIB), allocator.allocate(2 * MIB)
    allocator.release(first)
    most = allocator.allocate(25 * MIB)
    # Reserved: 30 (25 of it in use) and 20 (2 in use). Nothing is free as a whole: 50 MiB are all that is left.
    assert allocator.reserved == 50 * MIB
    with pytest.raises(OutOfMemory):
        allocator.allocate(52 * MIB)
    allocator.release(most)
    allocator.allocate(52 * MIB)
    assert allocator.reserved == 72 * MIB
    allocator.release(second)


def test_out_of_memory_when_nothing_is_cached() -> None:
    allocator = CachingAllocator(limit=10 * MIB)
    with pytest.raises(OutOfMemory):
        allocator.allocate(10 * MIB + 1)


def test_emptying_the_cache_gives_back_whole_segments_of_both_pools() -> None:
    allocator = CachingAllocator()
    blocks = [allocator.allocate(size) for size in (512, 5 * MIB, 30 * MIB)]
    living = allocator.allocate(40 * MIB)
    for block in blocks:
        allocator.release(block)
    allocator.empty_cache()
    assert (allocator.allocated, allocator.reserved) == (40 * MIB, 40 * MIB)
    allocator.release(living)
    allocator.empty_cache()
    assert allocator.reserved == 0


def test_a_program_is_played() -> None:
    allocator = CachingAllocator()
    living: list[Block | None] = []
    # 4 MiB and 3 MiB are born, the 4 dies, 16 comes (17 are left in the segment of 20), all die; nothing has no bytes.
    allocator.play([0, 1, -2, 2, 3, -1, -2, -3], [4 * MIB, 3 * MIB, 16 * MIB, 0], living)
    assert (allocator.allocated, allocator.reserved, allocator.peak_allocated) == (0, 36 * MIB, 19 * MIB)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_whatever_is_played_bytes_are_kept_account_of(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = random_program(rng)
    sizes = rng.integers(0, 2 ** rng.integers(1, 27), len(made.coefficients)).tolist()
    allocator = CachingAllocator()
    allocator.play(made.events.tolist(), sizes, [])
    peak, needed = allocator.peak_reserved, allocator.peak_allocated
    assert needed <= peak
    assert allocator.allocated == 0
    assert allocator.reserved == peak
    # As much again is enough; less than what is alive at once never is.
    CachingAllocator(limit=peak).play(made.events.tolist(), sizes, [])
    if needed:
        with pytest.raises(OutOfMemory):
            CachingAllocator(limit=needed - 1).play(made.events.tolist(), sizes, [])
    allocator.empty_cache()
    assert allocator.reserved == 0
