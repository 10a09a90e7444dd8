"""A trace made smaller: whole blocks are left out, so that what is left has the trace's shape.

Blocks are sorted by the power of two of their largest size, then by that of how long they live,
counted in operations, then by when they come; and of every `one_in` the middle one is kept, with
all that is done to it. So each kind of block, large and small, short- and long-lived, keeps its
share, to within one block; there is nothing random in it. Survey sampling calls this systematic
sampling of an ordered list.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scenarios.errors import ScenarioError
from scenarios.trace import ALLOCATE, FREE, REALLOCATE, Trace, TraceBuilder

GRAIN_BYTES, HEADER_BYTES = 8, 16
"""What a block takes at least, if its header is that of this project's own block layer."""
LARGEST_SHARE = 0.75
"""Of a heap, that blocks with their headers may fill where a scale is chosen. The rest is room for
fragmentation."""


@dataclass(frozen=True)
class Room:
    """What a trace takes of a board at most, or has there: entries of an image, slots, bytes."""

    entries: int
    blocks: int
    bytes: int
    """Live payloads. Of a board: its heap."""
    gross_bytes: int
    """The same, rounded up and with headers. Of a board: what a chosen scale may fill."""

    def beyond(self, other: Room, *, choosing: bool = False) -> list[str]:
        """What of this is more than `other` has, in words."""
        most_bytes = (self.gross_bytes, other.gross_bytes) if choosing else (self.bytes, other.bytes)
        pairs = {
            "operations": (self.entries, other.entries),
            "blocks live at once": (self.blocks, other.blocks),
            "bytes live at once": most_bytes,
        }
        return [f"{own:,} {what} where {had:,} fit" for what, (own, had) in pairs.items() if own > had]


def board(entries: int, blocks: int, heap_bytes: int) -> Room:
    """The room of a board with such a heap."""
    return Room(entries, blocks, heap_bytes, int(heap_bytes * LARGEST_SHARE))


class Scaling:
    """What can be made of one trace. Sizes are divided by `divide` and rounded up."""

    def __init__(self, trace: Trace, divide: int = 1) -> None:
        self.trace = trace
        kinds, slots, sizes, self._alignments = trace.operations.T.tolist()
        self._kinds, self._sizes = kinds, [-(-size // divide) for size in sizes]
        blocks: list[list[int]] = []
        block_of: dict[int, int] = {}
        for number, (kind, slot) in enumerate(zip(kinds, slots, strict=True)):
            if kind == ALLOCATE:
                block_of[slot] = len(blocks)
                blocks.append([])
            blocks[block_of[slot]].append(number)
        # In the order in which every n-th is kept; each has the numbers of its operations.
        self._blocks = sorted(blocks, key=self._shape)

    def _shape(self, block: list[int]) -> tuple[int, int, int]:
        end = block[-1] if self._kinds[block[-1]] == FREE else len(self._kinds)
        largest = max(self._sizes[number] for number in block)
        return largest.bit_length(), (end - block[0]).bit_length(), block[0]

    def room(self, one_in: int) -> Room:
        """What the board needs for it. A reallocation is an allocation and a free there."""
        live: dict[int, int] = {}
        changes = [(0, 0, 0)]  # of blocks, bytes and gross bytes, before and with each entry
        for number, block in self._operations(one_in):
            size, before = self._sizes[number], live.pop(block, 0)
            if self._kinds[number] != FREE:
                live[block] = size
                changes.append((1, size, _gross(size)))
            if before:
                changes.append((-1, -before, -_gross(before)))
        return Room(len(changes) - 1, *np.cumsum(changes, axis=0).max(axis=0).tolist())

    def smallest(self, limits: Room) -> int | None:
        """The smallest scale that fits and leaves room for fragmentation.

        If none does, the smallest that fits; None if there is none either.
        """
        for leaving_room in (True, False):
            for one_in in range(1, 2 * len(self._blocks)):
                if not self.room(one_in).beyond(limits, choosing=leaving_room):
                    return one_in
        return None

    def scaled(self, one_in: int) -> Trace:
        """The trace of one in so many blocks. Raises ScenarioError if none is left."""
        builder = TraceBuilder()
        for number, block in self._operations(one_in):
            kind, size = self._kinds[number], self._sizes[number]
            if kind == ALLOCATE:
                builder.allocate(block, size, self._alignments[number])
            elif kind == REALLOCATE:
                builder.reallocate(block, size)
            else:
                builder.free(block)
        if not len(builder):
            raise ScenarioError(
                f"{self.trace.name} has {len(self._blocks):,} blocks, and one in {one_in:,} is none; "
                "choose a smaller scale."
            )
        return builder.trace(self.trace.name)

    def _operations(self, one_in: int) -> list[tuple[int, int]]:
        """The operations that are kept, in order: the number of each, and of its block."""
        kept = self._blocks[one_in // 2 :: one_in]
        return sorted((number, block) for block, numbers in enumerate(kept) for number in numbers)


def _gross(size: int) -> int:
    return -(-size // GRAIN_BYTES) * GRAIN_BYTES + HEADER_BYTES
