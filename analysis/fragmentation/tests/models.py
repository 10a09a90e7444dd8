"""Slow and plain twins: the block layer's first fit and
best fit, and every figure by its definition.

They are written from firmware/heap/README.md and
docs/how-to/fragmentation.md and share no code with what they check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Block:
    begin: int
    end: int
    live: bool = False

    @property
    def bytes(self) -> int:
        return self.end - self.begin


@dataclass
class BlockLayer:
    """One list of free blocks, the newest first; `best`
    looks at all of it for the smallest that fits.

    A block is a multiple of 8 bytes, its header of `header` bytes included. `margin` bytes are lost
    at either end of the region.
    """

    heap_bytes: int
    best: bool
    header: int = 16
    smallest: int = 24
    margin: int = 0
    blocks: list[Block] = field(default_factory=list)
    newest_first: list[Block] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.blocks = [Block(self.margin, self.heap_bytes - self.margin)]
        self.newest_first = list(self.blocks)

    def allocate(self, size: int) -> Block | None:
        wanted = max(-(-(size + self.header) // 8) * 8, self.smallest)
        fitting = [block for block in self.newest_first if block.bytes >= wanted]
        if not fitting:
            return None
        place = min(fitting, key=lambda block: block.bytes) if self.best else fitting[0]
        self.newest_first = [block for block in self.newest_first if block is not place]
        if place.bytes - wanted >= self.smallest:
            rest = Block(place.begin + wanted, place.end)
            place.end = rest.begin
            self.blocks.append(rest)
            self.newest_first.insert(0, rest)
        place.live = True
        return place

    def free(self, block: Block) -> None:
        block.live = False
        for other in list(self.newest_first):
            if other.begin == block.end or other.end == block.begin:
                block.begin, block.end = min(block.begin, other.begin), max(block.end, other.end)
                self.newest_first = [block for block in self.newest_first if block is not other]
                self.blocks = [block for block in self.blocks if block is not other]
        self.newest_first.insert(0, block)


def cost_metric(
    operations: list[tuple[str, int, int]], heap: Callable[[int], BlockLayer], *, limit: int
) -> int:
    """The first size from 64 bytes on, in steps of 8, that serves."""
    return next(size for size in range(64, limit, 8) if served(operations, heap(size)) is not None)


def served(operations: list[tuple[str, int, int]], heap: BlockLayer) -> BlockLayer | None:
    """The heap behind the operations; None as soon as one is refused."""
    live: dict[int, Block] = {}
    for kind, name, size in operations:
        if kind == "f":
            heap.free(live.pop(name))
        elif (block := heap.allocate(size)) is None:
            return None
        else:
            live[name] = block
    return heap
