"""Blocks of drawn sizes that live for a drawn number of allocations: a
thesis's synthetic traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import MAX_ENTRIES, MAX_SLOTS, Allocate, Free, Generator, Step, block_size, whole
from scenarios.generators.xorshift import Xorshift32


@dataclass(frozen=True)
class Lifetimes(Generator):
    """Each allocation is due to be freed a number of allocations later, drawn from 0 to `ttl_max`.

    What is due is freed before the next allocation, in the order in which it came; so a block lives
    for one allocation at least. In the end all is freed. A size is the smallest of `draws` numbers:
    1 is uniform, more is a bias to small ones.
    """

    seed: int = whole(1, 0xFFFF_FFFF)
    """First state of xorshift32, not 0."""
    allocations: int = whole(1, MAX_ENTRIES // 2)
    size_min_bytes: int = block_size()
    size_max_bytes: int = block_size()
    """Both ends are included."""
    ttl_max: int = whole(0, MAX_SLOTS - 1)
    """Allocations that a block lives at most; 0 counts as 1."""
    draws: int = whole(1, 64)
    """A size is the smallest of so many."""

    def steps(self) -> Iterator[Step]:
        random = Xorshift32(self.seed)
        due: dict[int, list[int]] = {}
        idle = list(range(self.ttl_max, -1, -1))
        for number in range(self.allocations):
            for slot in due.pop(number, ()):
                idle.append(slot)
                yield Step(Free(slot))
            slot = idle.pop()
            sizes = (random.between(self.size_min_bytes, self.size_max_bytes) for _ in range(self.draws))
            yield Step(Allocate(slot, min(sizes)))
            due.setdefault(number + max(1, random.below(self.ttl_max + 1)), []).append(slot)
        for number in sorted(due):
            yield from (Step(Free(slot)) for slot in due[number])
