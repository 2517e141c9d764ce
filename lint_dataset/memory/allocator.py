"""PyTorch's caching CUDA allocator in plain Python: what a process reserves, not only what its tensors hold.

Modelled is the default configuration (one stream, no ``max_split_size_mb``; for ``expandable_segments`` see
``expandable.py``), as ``c10/cuda/CUDACachingAllocator.cpp`` implements it in PyTorch 2.x with the constants of
``c10/core/AllocatorConfig.h``:

- a request is rounded up to 512 bytes; up to 1 MiB it belongs to the small pool, above to the large one;
- the smallest free block of the pool that fits is taken, of equals the one at the lowest address;
- with none, a segment is asked of the driver: 2 MiB for small requests, 20 MiB for those under 10 MiB, else the request
  rounded up to 2 MiB. The driver places each below the last, as Linux maps memory: of equal free blocks the youngest
  segment's is taken first;
- a block is split when at least 512 bytes (small pool) or more than 1 MiB (large pool) would remain;
- a freed block merges with free neighbours of its segment; segments are kept;
- when the driver refuses, every segment that is free as a whole is given back and the request is tried once more.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from typing import TypeAlias

MIB = 2**20
MIN_BLOCK = 512
SMALL_REQUEST = 1 * MIB
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
OWN_SEGMENT_FROM = 10 * MIB
SEGMENT_STEP = 2 * MIB


class OutOfMemory(Exception):
    """A request of ``size`` bytes could not be served even after giving back all that was cached."""

    def __init__(self, size: int) -> None:
        """Remember the size of the request."""
        super().__init__(f"{size} bytes do not fit")
        self.size = size


def rounded(size: int) -> int:
    """The bytes that a request of ``size`` bytes takes; nothing for an empty one, which never reaches the allocator."""
    return -(-size // MIN_BLOCK) * MIN_BLOCK


class Block:
    """A piece of a segment, used or free, between its neighbours."""

    __slots__ = ("address", "after", "before", "free", "pool", "size")

    def __init__(self, size: int, address: int, pool: Pool) -> None:
        """Make a used block without neighbours."""
        self.size = size
        self.address = address
        self.pool = pool
        self.free = False
        self.before: Block | None = None
        self.after: Block | None = None


#: Free blocks with their size and address, smallest first. Addresses are unique, so blocks are never compared.
Pool: TypeAlias = "list[tuple[int, int, Block]]"


class CachingAllocator:
    """The allocator of one process on one card.

    ``limit`` is the most it may reserve, in bytes; None means no limit. All sizes are bytes: ``reserved`` is what it
    holds from the driver, ``allocated`` what it has handed out; the peaks are the largest values seen.
    """

    def __init__(self, limit: int | None = None) -> None:
        """Start without any segment."""
        self.limit = limit
        self.reserved = self.peak_reserved = 0
        self.allocated = self.peak_allocated = 0
        self._small: Pool = []
        self._large: Pool = []
        self._lowest_address = 0

    def allocate(self, size: int) -> Block:
        """Hand out ``size`` bytes (at least one). Raises ``OutOfMemory`` when the limit does not allow it."""
        size = (size + MIN_BLOCK - 1) & -MIN_BLOCK
        small = size <= SMALL_REQUEST
        pool = self._small if small else self._large
        i = bisect_left(pool, (size,))
        block = pool.pop(self._best(pool, i))[2] if i < len(pool) else self._segment(size, pool)
        rest = block.size - size
        if rest and self._leaves(rest, small):
            tail = Block(rest, block.address + size, pool)
            tail.free = True
            tail.before, tail.after = block, block.after
            if block.after is not None:
                block.after.before = tail
            block.after = tail
            block.size = size
            insort(pool, (rest, tail.address, tail))
        block.free = False
        self.allocated += block.size
        if self.allocated > self.peak_allocated:
            self.peak_allocated = self.allocated
        return block

    def release(self, block: Block) -> None:
        """Take back a block that ``allocate`` handed out."""
        self.allocated -= block.size
        self._free(block)

    def _free(self, block: Block) -> Block:
        """Put a block among the free ones, merged with its free neighbours: the block that comes of it."""
        pool = block.pool
        before, after = block.before, block.after
        if before is not None and before.free:
            del pool[bisect_left(pool, (before.size, before.address))]
            before.size += block.size
            before.after = after
            if after is not None:
                after.before = before
            block = before
        if after is not None and after.free:
            del pool[bisect_left(pool, (after.size, after.address))]
            block.size += after.size
            block.after = after.after
            if after.after is not None:
                after.after.before = block
        block.free = True
        insort(pool, (block.size, block.address, block))
        return block

    def _leaves(self, rest: int, small: bool) -> bool:
        """Whether a rest of so many bytes is split off."""
        return rest > SMALL_REQUEST or (small and rest >= MIN_BLOCK)

    def _best(self, pool: Pool, first: int) -> int:
        """Which free block to take, of which ``first`` is the smallest that fits."""
        return first

    def empty_cache(self) -> None:
        """Give back to the driver every segment that is free as a whole."""
        for pool in (self._small, self._large):
            kept = [entry for entry in pool if entry[2].before is not None or entry[2].after is not None]
            self.reserved -= sum(entry[0] for entry in pool) - sum(entry[0] for entry in kept)
            pool[:] = kept

    def play(self, events: Iterable[int], sizes: Sequence[int], living: list[Block | None]) -> None:
        """Replay events of a step program, coded as in ``StepProgram.events``.

        ``sizes`` has the bytes of each kind. ``living`` has one entry a birth so far and is continued, so that a step
        can be replayed phase by phase; None stands for a storage without bytes. Raises ``OutOfMemory``.
        """
        allocate, release, append = self.allocate, self.release, living.append
        for event in events:
            if event >= 0:
                size = sizes[event]
                append(allocate(size) if size > 0 else None)
            else:
                # -1 is the death of the latest birth, -2 of the one before: just how Python counts from the end.
                block = living[event]
                if block is not None:
                    release(block)

    def _segment(self, size: int, pool: Pool) -> Block:
        if size <= SMALL_REQUEST:
            segment = SMALL_SEGMENT
        elif size < OWN_SEGMENT_FROM:
            segment = LARGE_SEGMENT
        else:
            segment = -(-size // SEGMENT_STEP) * SEGMENT_STEP
        if self.limit is not None and self.reserved + segment > self.limit:
            self.empty_cache()
            if self.reserved + segment > self.limit:
                raise OutOfMemory(size)
        self.reserved += segment
        if self.reserved > self.peak_reserved:
            self.peak_reserved = self.reserved
        self._lowest_address -= segment
        return Block(segment, self._lowest_address, pool)
