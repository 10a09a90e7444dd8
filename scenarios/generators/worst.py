"""The worst allocation and the worst free of each kind of allocator, built on purpose.

Each construction prepares a heap and then measures one operation. It is made for one kind of
allocator and runs on every one. The constructions follow from how each kind searches and files:
M. Masmano, I. Ripoll, A. Crespo, "Timing and spatial study of dynamic memory allocators" (slides),
names those of first fit, the buddies, AVL trees and TLSF; E. Auvinen, "Embedded Dynamic Memory
Allocator Optimisation" (Tampere University 2022, table 7), those of a Half Tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scenarios.errors import ScenarioError
from scenarios.generator import Generator, Step
from scenarios.generators.laid_out import Layout
from scenarios.parameters import choice, whole

_LIST_BYTES, _LIST_REQUEST_BYTES = 40, 56
"""Both of one class in seglist (33 to 64) and of one bin in half_fit_cstm (32 to 63)."""
_BIN_BYTES, _BIN_REQUEST_BYTES = 520, 552
"""Both of one bin of D. Lea's malloc 2.6.5, which from 512 bytes on are 64 wide."""
_SMALLEST_BYTES, _STEP_BYTES = 24, 8
_LEFT_OVER_BYTES = 40
"""With a header of 16 bytes this is a block of 24, below all sizes of a tree."""
_SPLIT_BYTES = 520
"""Just above the edge of a TLSF's slot, with 16 slots to an octave or 32."""
_MOST_BLOCKS = 1 << 16


def _searched_list(blocks: int) -> list[Step]:
    """A list of free blocks that are all too small. What fits was filed first, so it comes last in
    a LIFO list, and it has the highest address: the rest of the region.
    """
    heap = Layout()
    heap.free([heap.fenced(_LIST_BYTES) for _ in range(blocks)])
    return heap.measure_allocation(_LIST_REQUEST_BYTES, "list")


def _searched_bin(blocks: int) -> list[Step]:
    """The same, for bins that hold larger blocks of several sizes."""
    heap = Layout()
    heap.free([heap.fenced(_BIN_BYTES) for _ in range(blocks)])
    return heap.measure_allocation(_BIN_REQUEST_BYTES, "bin")


def _halving(_: int) -> list[Step]:
    """Everything is free, and the smallest block is asked for: a buddy system halves to the end."""
    return Layout().measure_allocation(1, "halving")


def _halving_whole(blocks: int) -> list[Step]:
    """The same where a region is a row of largest blocks and a rest: smallest blocks fill the rest.

    65,532 bytes are 1,365 units of 48: five blocks of 256 units, and 85 units.
    """
    heap = Layout()
    for _ in range(blocks):
        heap.block(1)
    return heap.measure_allocation(1, "halving_whole")


def _split(_: int) -> list[Step]:
    """The one free block is of a higher level than the request: TLSF's first look fails, and what
    it finds is split.
    """
    return Layout().measure_allocation(_SPLIT_BYTES, "split")


def _sizes(blocks: int) -> list[int]:
    return [_LEFT_OVER_BYTES + _STEP_BYTES * number for number in range(blocks)]


def _tree(blocks: int) -> list[Step]:
    """Free blocks of as many sizes; only the largest fits. It is freed first, so that it is last in
    a LIFO list, and has the highest address. What is left of it is smaller than all others, so that
    a tree files it at its other end.
    """
    heap = Layout()
    *sizes, request = _sizes(blocks)
    slots = [heap.fenced(size) for size in (*sizes, request + _LEFT_OVER_BYTES)]
    heap.free(reversed(slots))
    return heap.measure_allocation(request, "tree")


def _way(nodes: int) -> list[int]:
    """Sizes of one bin of powers of two, each in the right half of what the one before left.

    Filed in this order they are a way down a bitwise trie, always to the right. A request of 8
    bytes less than the next power of two passes all of them.
    """
    above = 1 << nodes + 5
    return [above - (above >> number) for number in range(2, nodes + 2)]


def _trie(nodes: int) -> list[Step]:
    """A way down a trie, and a designated victim that is too small."""
    heap = Layout()
    sizes = _way(nodes)
    slots = [heap.fenced(size) for size in (*sizes, _SMALLEST_BYTES)]
    heap.free(slots)
    return heap.measure_allocation((1 << nodes + 5) - _STEP_BYTES, "trie")


def _merge(_: int) -> list[Step]:
    """The smallest block is freed, and all its buddies are free: buddy systems merge to the end."""
    heap = Layout()
    return heap.measure_free(heap.block(1), "merge")


def _merge_whole(blocks: int) -> list[Step]:
    """The same behind the rest of a region, as in _halving_whole()."""
    heap = Layout()
    slots = [heap.block(1) for _ in range(blocks + 1)]
    return heap.measure_free(slots[-1], "merge_whole")


def _neighbours(_: int) -> list[Step]:
    """Both neighbours are free, each the only block of its list: two taken out, one filed."""
    heap = Layout()
    left, freed, right = heap.block(200), heap.block(72), heap.fenced(328)
    heap.free((left, right))
    return heap.measure_free(freed, "neighbours")


def _between(heap: Layout, sizes: list[int], left: int, right: int) -> tuple[list[int], int]:
    """Blocks of these sizes, those of the two numbers around a third. The slots in order of
    `sizes`, and the slot of the one between.
    """
    slots = {left: heap.block(sizes[left])}
    freed = heap.block(_SMALLEST_BYTES)
    slots[right] = heap.fenced(sizes[right])
    others = [number for number in range(len(sizes)) if number not in slots]
    slots |= {number: heap.fenced(sizes[number]) for number in others}
    return [slots[number] for number in range(len(sizes))], freed


def _tree_merge(blocks: int) -> list[Step]:
    """Both neighbours are nodes of a tree with full subtrees: the middle one of the sizes, which is
    the root, and the middle one of those above.
    """
    heap = Layout()
    slots, freed = _between(heap, _sizes(blocks), blocks // 2, blocks * 3 // 4)
    heap.free(slots)
    return heap.measure_free(freed, "tree_merge")


def _trie_merge(nodes: int) -> list[Step]:
    """Both neighbours are nodes at the top of a way down a trie: its leaf takes their place."""
    heap = Layout()
    slots, freed = _between(heap, _way(nodes), 0, 1)
    heap.free(slots)
    return heap.measure_free(freed, "trie_merge")


def _filing(blocks: int) -> list[Step]:
    """A block is filed behind all others, in order of address and in order of size."""
    return _filed_last(blocks, _LIST_BYTES, _LIST_REQUEST_BYTES, "filing")


def _bin_filing(blocks: int) -> list[Step]:
    """A block is filed behind larger ones of its bin."""
    return _filed_last(blocks, _BIN_REQUEST_BYTES, _BIN_BYTES, "bin_filing")


def _filed_last(blocks: int, others_bytes: int, freed_bytes: int, label: str) -> list[Step]:
    heap = Layout()
    slots = [heap.fenced(others_bytes) for _ in range(blocks)]
    freed = heap.fenced(freed_bytes)
    heap.free(slots)
    return heap.measure_free(freed, label)


@dataclass(frozen=True)
class Construction:
    """How a heap is brought to its worst.

    `blocks` is how many free blocks it has in 64 KiB, (least, own, most); None where their number
    is no choice. `frees` is true where the worst free is built, false for the worst allocation.
    """

    steps: Callable[[int], list[Step]]
    made_for: str
    frees: bool = False
    blocks: tuple[int, int, int] | None = None


CONSTRUCTIONS = {
    "list": Construction(
        _searched_list, "lists: first fit, best fit, bins that are walked", False, (1, 640, _MOST_BLOCKS)
    ),
    "bin": Construction(_searched_bin, "Lea's bins of 64 bytes: newlib", False, (1, 50, _MOST_BLOCKS)),
    "halving": Construction(_halving, "buddy systems"),
    "halving_whole": Construction(
        _halving_whole, "buddy systems whose region has a rest: ublox_buddy", False, (1, 85, 4096)
    ),
    "split": Construction(_split, "two-level segregated fit"),
    "tree": Construction(_tree, "trees by size: avl", False, (2, 90, 4096)),
    "trie": Construction(_trie, "bitwise tries: half_tree, dlmalloc", False, (1, 7, 14)),
    "merge": Construction(_merge, "buddy systems", True),
    "merge_whole": Construction(
        _merge_whole, "buddy systems whose region has a rest: ublox_buddy", True, (1, 85, 4096)
    ),
    "neighbours": Construction(_neighbours, "what merges at once: first fit, best fit, Half-Fit, TLSF", True),
    "tree_merge": Construction(_tree_merge, "trees by size: avl", True, (4, 88, 4096)),
    "trie_merge": Construction(_trie_merge, "bitwise tries: half_tree, dlmalloc", True, (2, 7, 14)),
    "filing": Construction(_filing, "lists in order of address or size", True, (1, 640, _MOST_BLOCKS)),
    "bin_filing": Construction(
        _bin_filing, "Lea's bins, sorted by size: newlib", True, (1, 50, _MOST_BLOCKS)
    ),
}
"""By name, those of allocations first."""

ABSENT = {
    "fastbins": "does not exist here: of D. Lea's malloc, 2.7 has fastbins; dlmalloc here is 2.8.6 "
    "and newlib's is 2.6.5"
}
"""Constructions that others name, and why they cannot be run."""


@dataclass(frozen=True)
class Worst(Generator):
    """Prepares the heap as `target` says, then measures one operation.

    `blocks` is the number of free blocks that are built; 0 is the construction's own number, which
    fits 64 KiB with every allocator.
    """

    target: str = choice(*CONSTRUCTIONS)
    """A construction."""
    blocks: int = whole(0, _MOST_BLOCKS)
    """How many free blocks are built; 0 is the construction's own number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        limits = CONSTRUCTIONS[self.target].blocks
        if limits is None and self.blocks:
            raise ScenarioError(f"{self.target} has no number of blocks; leave blocks at 0.")
        if limits and self.blocks and not limits[0] <= self.blocks <= limits[2]:
            raise ScenarioError(
                f"blocks must be from {limits[0]} to {limits[2]} for {self.target}, not {self.blocks}; "
                "0 is its own number."
            )

    def steps(self) -> Iterator[Step]:
        construction = CONSTRUCTIONS[self.target]
        own = construction.blocks[1] if construction.blocks else 0
        yield from construction.steps(self.blocks or own)
