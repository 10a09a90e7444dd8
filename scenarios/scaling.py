"""A trace made smaller: whole blocks are left out, so that what is left has the trace's shape.

Blocks are sorted by the power of two of their largest size, then by that of how long they live,
counted in operations, then by when they come; and of every `one_in` the middle one is kept, with
all that is done to it. So each kind of block, large and small, short- and long-lived, keeps its
share, to within one block; there is nothing random in it. Survey sampling calls this systematic
sampling of an ordered list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scenarios.errors import ScenarioError
from scenarios.trace import ALIGNMENT, ALLOCATE, FREE, KIND, REALLOCATE, SIZE, SLOT, Trace, TraceBuilder

Numbers = npt.NDArray[np.int64]

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
        operations = trace.operations.astype(np.int64)
        self._kinds = operations[:, KIND]
        self._sizes = -(-operations[:, SIZE] // divide)
        self._blocks = _blocks(operations)
        self.blocks = int(self._blocks.max()) + 1

    def room(self, one_in: int) -> Room:
        """What the board needs for it. A reallocation is an allocation and a free there."""
        array = self._kept(one_in)
        kinds, sizes = self._kinds[array], self._sizes[array]
        before = self._before[array]
        enters, moves, leaves = kinds != FREE, kinds == REALLOCATE, kinds == FREE
        count = _peak(enters.astype(np.int64) - leaves, -moves.astype(np.int64))
        return Room(
            entries=len(array) + int(moves.sum()),
            blocks=count,
            bytes=_peak(np.where(enters, sizes, -before), np.where(moves, -before, 0)),
            gross_bytes=_peak(
                np.where(enters, _gross(sizes), -_gross(before)), np.where(moves, -_gross(before), 0)
            ),
        )

    def smallest(self, limits: Room) -> int | None:
        """The smallest scale that fits and leaves room for fragmentation.

        If none does, the smallest that fits; None if there is none either.
        """
        for leaving_room in (True, False):
            for one_in in range(1, 2 * self.blocks):
                if not self.room(one_in).beyond(limits, choosing=leaving_room):
                    return one_in
        return None

    def scaled(self, one_in: int) -> Trace:
        """The trace of one in so many blocks. Raises ScenarioError if none is left."""
        array = self._kept(one_in)
        if len(array) == 0:
            raise ScenarioError(
                f"{self.trace.name} has {self.blocks:,} blocks, and one in {one_in:,} is none; "
                "choose a smaller scale."
            )
        builder = TraceBuilder()
        alignments = self.trace.operations[array, ALIGNMENT].tolist()
        rows = zip(*(part[array].tolist() for part in (self._kinds, self._blocks, self._sizes)), strict=True)
        for (kind, block, size), alignment in zip(rows, alignments, strict=True):
            if kind == ALLOCATE:
                builder.allocate(block, size, alignment)
            elif kind == REALLOCATE:
                builder.reallocate(block, size)
            else:
                builder.free(block)
        return builder.trace(self.trace.name)

    def _kept(self, one_in: int) -> Numbers:
        """The numbers of the operations that are kept, in order."""
        chosen = self._order[one_in // 2 :: one_in]
        starts, counts = self._starts[chosen], self._starts[chosen + 1] - self._starts[chosen]
        ends = np.cumsum(counts)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        array: Numbers = np.sort(self._by_block[np.repeat(starts, counts) + within])
        return array

    @cached_property
    def _by_block(self) -> Numbers:
        """The numbers of the operations, block by block, each in order."""
        return np.argsort(self._blocks, kind="stable")

    @cached_property
    def _starts(self) -> Numbers:
        """Where each block begins in `_by_block`, and behind the last where it ends."""
        return np.concatenate([[0], np.cumsum(np.bincount(self._blocks))])

    @cached_property
    def _before(self) -> Numbers:
        """The size of the operation's block before it; 0 of an allocation."""
        sizes = self._sizes[self._by_block]
        before = np.empty_like(sizes)
        before[self._by_block[1:]] = sizes[:-1]
        before[self._by_block[self._starts[:-1]]] = 0
        return before

    @cached_property
    def _order(self) -> Numbers:
        """The blocks in the order in which every n-th is kept."""
        starts, ends = self._starts[:-1], self._starts[1:] - 1
        begin, last = self._by_block[starts], self._by_block[ends]
        end = np.where(self._kinds[last] == FREE, last, len(self._kinds))
        largest = np.maximum.reduceat(self._sizes[self._by_block], starts)
        return np.lexsort((begin, _log2(end - begin), _log2(largest)))


def _blocks(operations: Numbers) -> Numbers:
    """The number of each operation's block, in the order of their allocations."""
    by_slot = np.argsort(operations[:, SLOT], kind="stable")
    begins = operations[by_slot, KIND] == ALLOCATE
    anyhow = np.empty(len(operations), dtype=np.int64)
    anyhow[by_slot] = np.cumsum(begins) - 1  # each slot begins with an allocation
    of_allocations = anyhow[operations[:, KIND] == ALLOCATE]
    numbers = np.empty(len(of_allocations), dtype=np.int64)
    numbers[of_allocations] = np.arange(len(of_allocations))
    blocks: Numbers = numbers[anyhow]
    return blocks


def _log2(values: Numbers) -> Numbers:
    """The power of two at or below each; values are from 1 on."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64) - 1


def _gross(sizes: Numbers) -> Numbers:
    return -(-sizes // GRAIN_BYTES) * GRAIN_BYTES + np.where(sizes > 0, HEADER_BYTES, 0)


def _peak(first: Numbers, then: Numbers) -> int:
    """The largest sum at any moment, where each operation has two steps."""
    steps = np.column_stack((first, then)).ravel()
    return int(np.cumsum(steps).max(initial=0))
