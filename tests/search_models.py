"""Models of what other people's allocators look at, made from descriptions and not from their code.

A model knows lists and sizes. It serves a request and frees it again, and says how many free blocks
its search looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

REGION_BYTES = 65_536


class Model(Protocol):
    """An allocator whose blocks are known by their addresses."""

    def allocate(self, size: int) -> tuple[int | None, int]:
        """An address, or None if nothing fits, and the looks of the search."""

    def free(self, address: int) -> None: ...


@dataclass
class Block:
    """A free block, its header included."""

    start: int
    size: int


class OrderedFirstFit:
    """FreeRTOS's heap_4: one list in order of address, in which neighbours merge.

    Headers have 8 bytes; sizes are multiples of 8.
    """

    header = 8

    def __init__(self) -> None:
        self.free_blocks = [Block(0, REGION_BYTES - 8)]
        self.live: dict[int, int] = {}

    def gross(self, size: int) -> int:
        return (size + self.header + 7) // 8 * 8

    def splits(self, rest: int) -> bool:
        return rest > 2 * self.header

    def allocate(self, size: int) -> tuple[int | None, int]:
        wanted = self.gross(size)
        if wanted > sum(block.size for block in self.free_blocks):
            return None, 0  # it knows its free bytes and does not search
        for looks, block in enumerate(self.free_blocks, 1):
            if block.size >= wanted:
                return self.take(block, wanted), looks
        return None, len(self.free_blocks) + 1  # and the end mark

    def take(self, block: Block, wanted: int) -> int:
        self.free_blocks.remove(block)
        if self.splits(block.size - wanted):
            self.file(Block(block.start + wanted, block.size - wanted))
            block.size = wanted
        self.live[block.start] = block.size
        return block.start

    def free(self, address: int) -> None:
        self.file(Block(address, self.live.pop(address)))

    def file(self, block: Block) -> None:
        self.free_blocks.append(block)
        self.free_blocks.sort(key=lambda block: block.start)
        self.merge()

    def merge(self) -> None:
        merged: list[Block] = []
        for block in self.free_blocks:
            if merged and merged[-1].start + merged[-1].size == block.start:
                merged[-1].size += block.size
            else:
                merged.append(block)
        self.free_blocks = merged


class Holes(OrderedFirstFit):
    """The crate linked_list_allocator, with 8 bytes for its adapter.

    It is as heap_4, but every rest becomes a hole.
    """

    def __init__(self) -> None:
        super().__init__()
        self.free_blocks = [Block(0, REGION_BYTES)]

    def splits(self, rest: int) -> bool:
        return rest > 0


class SizeOrdered(OrderedFirstFit):
    """FreeRTOS's heap_2: one list in order of size, in which nothing merges.

    Among equals the last freed comes first.
    """

    def file(self, block: Block) -> None:
        before = [one for one in self.free_blocks if one.size < block.size]
        self.free_blocks = [*before, block, *self.free_blocks[len(before) :]]


class GrowingFirstFit(OrderedFirstFit):
    """newlib's nano malloc: as heap_4, but a request that fits nowhere gets new memory.

    It adds 8 bytes to a request; sizes are multiples of 4.
    """

    def __init__(self) -> None:
        super().__init__()
        self.free_blocks = []
        self.end = 0

    def gross(self, size: int) -> int:
        return max((size + 3) // 4 * 4 + 8, 12)

    def splits(self, rest: int) -> bool:
        return rest >= 12

    def allocate(self, size: int) -> tuple[int | None, int]:
        wanted = self.gross(size)
        for looks, block in enumerate(self.free_blocks, 1):
            if block.size >= wanted:
                return self.take(block, wanted), looks
        looks = len(self.free_blocks)
        if self.end + wanted > REGION_BYTES:
            return None, looks
        self.end += wanted
        self.live[self.end - wanted] = wanted
        return self.end - wanted, looks

    def take(self, block: Block, wanted: int) -> int:
        """Hands out the end of the block. The rest stays where it is."""
        if not self.splits(block.size - wanted):
            return super().take(block, block.size)
        block.size -= wanted
        self.live[block.start + block.size] = wanted
        return block.start + block.size


class BestOfAll:
    """umm_malloc: it searches one list to its end for the smallest block that fits.

    Sizes are in units of 8 bytes; headers have 4 bytes.
    """

    def __init__(self) -> None:
        # The first and the last unit are marks. The region begins 4 bytes late, which costs a unit.
        self.free_list = [Block(1, REGION_BYTES // 8 - 3)]
        self.live: dict[int, int] = {}

    def allocate(self, size: int) -> tuple[int | None, int]:
        units = (size + 4 + 7) // 8
        looks = len(self.free_list)
        fitting = [block for block in self.free_list if block.size >= units]
        if not fitting:
            return None, looks
        best = min(fitting, key=lambda block: block.size)
        start = best.start
        if best.size == units:
            self.free_list.remove(best)
        else:
            best.start, best.size = start + units, best.size - units
        self.live[start] = units
        return start, looks

    def free(self, address: int) -> None:
        """Merges with the free block behind, if there is one, and then with the one before.

        If there is none before, it becomes the first of the list.
        """
        freed = Block(address, self.live.pop(address))
        for block in self.free_list:
            if block.start == freed.start + freed.size:
                freed.size += block.size
                self.free_list.remove(block)
                break
        for block in self.free_list:
            if block.start + block.size == freed.start:
                block.size += freed.size
                return
        self.free_list.insert(0, freed)


class ThreeLooks:
    """Zephyr's sys_heap: a ring of free chunks for each power of two, in units of 8 bytes.

    A header takes one unit. The search looks into the request's own ring three times at most, and
    turns it by one chunk after each look in vain. Then it takes the next chunk of the lowest higher
    ring. A ring that a chunk is taken out of begins with the chunk behind that.
    """

    looks = 3

    def __init__(self) -> None:
        self.rings: list[list[Block]] = [[] for _ in range(REGION_BYTES.bit_length())]
        self.live: dict[int, int] = {}
        # Thirteen heads and four words stand before it, and a mark at the end.
        self.file(Block(9, REGION_BYTES // 8 - 10))

    def ring(self, units: int) -> list[Block]:
        return self.rings[units.bit_length() - 1]

    def file(self, block: Block) -> None:
        self.ring(block.size).append(block)

    def take_out(self, block: Block) -> None:
        ring = self.ring(block.size)
        at = ring.index(block)
        ring[:] = ring[at + 1 :] + ring[:at]

    def allocate(self, size: int) -> tuple[int | None, int]:
        units = (size + 7) // 8 + 1
        block, looked = self.search(units)
        if block is None:
            return None, looked
        self.take_out(block)
        if block.size > units:
            self.file(Block(block.start + units, block.size - units))
        self.live[block.start] = units
        return block.start, looked

    def search(self, units: int) -> tuple[Block | None, int]:
        own = self.ring(units)
        looked = 0
        for _ in range(min(self.looks, len(own))):
            looked += 1
            if own[0].size >= units:
                return own[0], looked
            own.append(own.pop(0))
        higher = (ring[0] for ring in self.rings[units.bit_length() :] if ring)
        return next(higher, None), looked

    def free(self, address: int) -> None:
        """Merges with the free chunk behind, if there is one, and then with the one before."""
        freed = Block(address, self.live.pop(address))
        for block in [block for ring in self.rings for block in ring]:
            if block.start == freed.start + freed.size:
                self.take_out(block)
                freed.size += block.size
        for block in [block for ring in self.rings for block in ring]:
            if block.start + block.size == freed.start:
                self.take_out(block)
                freed = Block(block.start, block.size + freed.size)
        self.file(freed)


MODELS: dict[str, type[Model]] = {
    "heap_2": SizeOrdered,
    "heap_4": OrderedFirstFit,
    "heap_5": OrderedFirstFit,
    "linked_list_allocator": Holes,
    "newlib_nano": GrowingFirstFit,
    "umm_malloc": BestOfAll,
    "sys_heap": ThreeLooks,
}
