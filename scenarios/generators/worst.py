"""The worst allocation and the worst free of each kind of allocator, built on purpose.

Each construction prepares a heap and then measures one operation. It is made for one kind of
allocator and runs on every one. The constructions follow from how each kind searches and files:
M. Masmano, I. Ripoll, A. Crespo, "Timing and spatial study of dynamic memory allocators" (slides),
names those of first fit, the buddies, AVL trees and TLSF; E. Auvinen, "Embedded Dynamic Memory
Allocator Optimisation" (Tampere University 2022, table 7), those of a Half Tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from scenarios.generator import Allocate, Free, Generator, ScenarioError, Step, choice, whole

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
_SPACER_BYTES = 8


class _Heap:
    """Writes down the steps of what only prepares: not measured, with the label `setup`."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.blocks = 0

    def block(self, size: int) -> int:
        """Allocates a block; returns its slot. Blocks that follow each other are neighbours."""
        self.blocks += 1
        self.steps.append(Step(Allocate(self.blocks - 1, size, measured=False), "setup"))
        return self.blocks - 1

    def fenced(self, *sizes: int) -> list[int]:
        """Blocks, and behind each a small one that stays, so that nothing merges across it."""
        slots = []
        for size in sizes:
            slots.append(self.block(size))
            self.block(_SPACER_BYTES)
        return slots

    def free(self, slots: Iterable[int]) -> None:
        self.steps += [Step(Free(slot, measured=False), "setup") for slot in slots]


@dataclass(frozen=True)
class Construction:
    """How a heap is brought to its worst.

    `build` prepares a heap with so many free blocks, and returns the size of the request that is
    measured, or the slot that is freed. `blocks` is how many it has in 64 KiB, (least, own, most);
    None where their number is no choice. `frees` is true where the worst free is built, false for
    the worst allocation.
    """

    build: Callable[[_Heap, int], int]
    made_for: str
    blocks: tuple[int, int, int] | None = None
    frees: bool = False


def _searched(heap: _Heap, blocks: int, size: int, request: int) -> int:
    """A list of free blocks that are all too small. What fits was filed first, so it comes last in
    a LIFO list, and it has the highest address: the rest of the region.
    """
    heap.free(heap.fenced(*[size] * blocks))
    return request


def _halving_whole(heap: _Heap, blocks: int) -> int:
    """Everything is free, and the smallest block is asked for, where a region is a row of largest
    blocks and a rest: smallest blocks fill the rest.

    65,532 bytes are 1,365 units of 48: five blocks of 256 units, and 85 units.
    """
    for _ in range(blocks):
        heap.block(1)
    return 1


def _sizes(blocks: int) -> list[int]:
    return [_LEFT_OVER_BYTES + _STEP_BYTES * number for number in range(blocks)]


def _tree(heap: _Heap, blocks: int) -> int:
    """Free blocks of as many sizes; only the largest fits. It is freed first, so that it is last in
    a LIFO list, and has the highest address. What is left of it is smaller than all others, so that
    a tree files it at its other end.
    """
    *sizes, request = _sizes(blocks)
    heap.free(reversed(heap.fenced(*sizes, request + _LEFT_OVER_BYTES)))
    return request


def _way(nodes: int) -> list[int]:
    """Sizes of one bin of powers of two, each in the right half of what the one before left.

    Filed in this order they are a way down a bitwise trie, always to the right. A request of 8
    bytes less than the next power of two passes all of them.
    """
    above = 1 << nodes + 5
    return [above - (above >> number) for number in range(2, nodes + 2)]


def _trie(heap: _Heap, nodes: int) -> int:
    """A way down a trie, and a designated victim that is too small."""
    heap.free(heap.fenced(*_way(nodes), _SMALLEST_BYTES))
    return (1 << nodes + 5) - _STEP_BYTES


def _neighbours(heap: _Heap, _: int) -> int:
    """Both neighbours are free, each the only block of its list: two taken out, one filed."""
    left, freed = heap.block(200), heap.block(72)
    heap.free((left, *heap.fenced(328)))
    return freed


def _between(heap: _Heap, sizes: list[int], left: int, right: int) -> int:
    """Free blocks of these sizes, those of the two numbers around a third: the slot of that."""
    slots = {left: heap.block(sizes[left])}
    freed = heap.block(_SMALLEST_BYTES)
    for number in (right, *(number for number in range(len(sizes)) if number not in (left, right))):
        (slots[number],) = heap.fenced(sizes[number])
    heap.free(slots[number] for number in range(len(sizes)))
    return freed


def _filed(heap: _Heap, *sizes: int) -> int:
    """The last of these is filed behind all others."""
    *others, freed = heap.fenced(*sizes)
    heap.free(others)
    return freed


CONSTRUCTIONS = {
    "list": Construction(
        lambda heap, blocks: _searched(heap, blocks, _LIST_BYTES, _LIST_REQUEST_BYTES),
        "lists: first fit, best fit, bins that are walked",
        (1, 640, _MOST_BLOCKS),
    ),
    # The same, for bins that hold larger blocks of several sizes.
    "bin": Construction(
        lambda heap, blocks: _searched(heap, blocks, _BIN_BYTES, _BIN_REQUEST_BYTES),
        "Lea's bins of 64 bytes: newlib",
        (1, 50, _MOST_BLOCKS),
    ),
    # Everything is free, and the smallest block is asked for: a buddy system halves to the end.
    "halving": Construction(lambda *_: 1, "buddy systems"),
    "halving_whole": Construction(
        _halving_whole, "buddy systems whose region has a rest: ublox_buddy", (1, 85, 4096)
    ),
    # The one free block is of a higher level than the request: TLSF's first look fails, and what it
    # finds is split.
    "split": Construction(lambda *_: _SPLIT_BYTES, "two-level segregated fit"),
    "tree": Construction(_tree, "trees by size: avl", (2, 90, 4096)),
    "trie": Construction(_trie, "bitwise tries: half_tree, dlmalloc", (1, 7, 14)),
    # The smallest block is freed, and all its buddies are free: buddy systems merge to the end.
    "merge": Construction(lambda heap, _: heap.block(1), "buddy systems", frees=True),
    # The same behind the rest of a region, as in _halving_whole().
    "merge_whole": Construction(
        lambda heap, blocks: [heap.block(1) for _ in range(blocks + 1)][-1],
        "buddy systems whose region has a rest: ublox_buddy",
        (1, 85, 4096),
        frees=True,
    ),
    "neighbours": Construction(
        _neighbours, "what merges at once: first fit, best fit, Half-Fit, TLSF", frees=True
    ),
    # Both neighbours are nodes of a tree with full subtrees: the middle one of the sizes, which is
    # the root, and the middle one of those above.
    "tree_merge": Construction(
        lambda heap, blocks: _between(heap, _sizes(blocks), blocks // 2, blocks * 3 // 4),
        "trees by size: avl",
        (4, 88, 4096),
        frees=True,
    ),
    # Both neighbours are nodes at the top of a way down a trie: its leaf takes their place.
    "trie_merge": Construction(
        lambda heap, nodes: _between(heap, _way(nodes), 0, 1),
        "bitwise tries: half_tree, dlmalloc",
        (2, 7, 14),
        frees=True,
    ),
    # In order of address and in order of size.
    "filing": Construction(
        lambda heap, blocks: _filed(heap, *[_LIST_BYTES] * blocks, _LIST_REQUEST_BYTES),
        "lists in order of address or size",
        (1, 640, _MOST_BLOCKS),
        frees=True,
    ),
    # Behind larger ones of its bin.
    "bin_filing": Construction(
        lambda heap, blocks: _filed(heap, *[_BIN_REQUEST_BYTES] * blocks, _BIN_BYTES),
        "Lea's bins, sorted by size: newlib",
        (1, 50, _MOST_BLOCKS),
        frees=True,
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
        heap = _Heap()
        measured = construction.build(heap, self.blocks or own)
        yield from heap.steps
        yield Step(Free(measured) if construction.frees else Allocate(heap.blocks, measured), self.target)
