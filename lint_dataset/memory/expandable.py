"""PyTorch's allocator with ``expandable_segments:True``: segments that grow page by page.

As ``c10/cuda/CUDACachingAllocator.cpp`` implements it. Each pool has a range of addresses larger than the card, of
which only those pages hold memory that are asked for: pages of 2 MiB for the small pool, of 20 MiB for the large one.
What differs from the allocator that it extends:

- of free blocks that fit, the first in order of size is taken unless the next ones could grow less: memory that can
  still grow is spared;
- with none, memory is put behind the lowest addresses that have room, using the free block right before them;
- every block is split that leaves 512 bytes or more;
- giving back means that each page which is free as a whole goes, also from the midst of a block.

One range a pool is taken to suffice: PyTorch makes it an eighth larger than the card, and opens another behind it.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from lint_dataset.memory.allocator import (
    LARGE_SEGMENT,
    MIN_BLOCK,
    SMALL_SEGMENT,
    Block,
    CachingAllocator,
    OutOfMemory,
    Pool,
)

#: Bytes of addresses in a range: more than any card has, in whole pages of both sizes.
_ADDRESSES = LARGE_SEGMENT << 26


class _Gap(Block):
    """A part of a range without memory. It is never free: only blocks that hold memory are handed out and merged."""

    __slots__ = ()


class ExpandableAllocator(CachingAllocator):
    """The allocator of a process started with ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``."""

    def __init__(self, limit: int | None = None) -> None:
        """Start without any memory. See ``CachingAllocator``."""
        super().__init__(limit)
        # Gaps in the order of their addresses.
        self._gaps: dict[int, list[tuple[int, Block]]] = {}
        for pool in (self._small, self._large):
            self._gaps[id(pool)] = [(0, _Gap(_ADDRESSES, 0, pool))]

    def empty_cache(self) -> None:
        """Give back to the driver every page that is free as a whole."""
        for pool in (self._small, self._large):
            for _, _, block in list(pool):
                self._unmap(block)

    def _leaves(self, rest: int, small: bool) -> bool:
        return rest >= MIN_BLOCK

    def _best(self, pool: Pool, first: int) -> int:
        while first + 1 < len(pool) and _reach(pool[first + 1][2]) < _reach(pool[first][2]):
            first += 1
        return first

    def _segment(self, size: int, pool: Pool) -> Block:
        try:
            block = self._grow(size, pool)
        except OutOfMemory:
            # Pages that were mapped before one was refused are free now, and given back with the rest.
            self.empty_cache()
            block = self._grow(size, pool)
        del pool[bisect_left(pool, (block.size, block.address))]
        return block

    def _grow(self, size: int, pool: Pool) -> Block:
        """A free block of ``size`` bytes or more, where the lowest gap lies that has room."""
        block = next(start for _, gap in self._gaps[id(pool)] if _room(start := _start(gap)) >= size)
        if isinstance(block, _Gap):
            block = self._map(block, min(block.size, size))
        while block.size < size:
            assert block.after is not None, "a range ends in a gap"
            block = self._map(block.after, min(block.after.size, size - block.size))
        return block

    def _map(self, gap: Block, size: int) -> Block:
        """Put memory into the first pages of a gap. The free block that comes of it, merged with its neighbours."""
        pool = gap.pool
        page = SMALL_SEGMENT if pool is self._small else LARGE_SEGMENT
        size = -(-size // page) * page
        if self.limit is not None and self.reserved + size > self.limit:
            raise OutOfMemory(size)
        self.reserved += size
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        gaps = self._gaps[id(pool)]
        del gaps[bisect_left(gaps, (gap.address,))]
        block = Block(size, gap.address, pool)
        block.before, block.after = gap.before, gap.after
        if size < gap.size:
            left = _Gap(gap.size - size, gap.address + size, pool)
            left.before, left.after = block, gap.after
            block.after = left
            if left.after is not None:
                left.after.before = left
            insort(gaps, (left.address, left))
        elif block.after is not None:
            block.after.before = block
        if block.before is not None:
            block.before.after = block
        return self._free(block)

    def _unmap(self, block: Block) -> None:
        """Take the memory from the whole pages of a free block."""
        pool = block.pool
        page = SMALL_SEGMENT if pool is self._small else LARGE_SEGMENT
        end = block.address + block.size
        first, last = -(-block.address // page) * page, end // page * page
        if first >= last:
            return
        self.reserved -= last - first
        del pool[bisect_left(pool, (block.size, block.address))]
        gap = _Gap(last - first, first, pool)
        gap.before, gap.after = block.before, block.after
        gaps = self._gaps[id(pool)]
        if first > block.address:
            gap.before = self._piece(first - block.address, block.address, pool, block.before, gap)
        elif isinstance(gap.before, _Gap):
            below = gap.before
            del gaps[bisect_left(gaps, (below.address,))]
            gap.size, gap.address, gap.before = gap.size + below.size, below.address, below.before
        if last < end:
            gap.after = self._piece(end - last, last, pool, gap, block.after)
        elif isinstance(gap.after, _Gap):
            above = gap.after
            del gaps[bisect_left(gaps, (above.address,))]
            gap.size, gap.after = gap.size + above.size, above.after
        if gap.before is not None:
            gap.before.after = gap
        if gap.after is not None:
            gap.after.before = gap
        insort(gaps, (gap.address, gap))

    def _piece(self, size: int, address: int, pool: Pool, before: Block | None, after: Block | None) -> Block:
        """A free block between two others."""
        piece = Block(size, address, pool)
        piece.before, piece.after, piece.free = before, after, True
        if before is not None:
            before.after = piece
        if after is not None:
            after.before = piece
        insort(pool, (size, address, piece))
        return piece


def _start(gap: Block) -> Block:
    """Where memory that uses a gap begins: at a free block right before it."""
    return gap.before if gap.before is not None and gap.before.free else gap


def _room(block: Block | None) -> int:
    """Bytes from a block on that are free or without memory."""
    room = 0
    while block is not None and (block.free or isinstance(block, _Gap)):
        room += block.size
        block = block.after
    return room


def _reach(block: Block) -> int:
    """To what size a free block can grow."""
    return block.size + (block.after.size if isinstance(block.after, _Gap) else 0)
