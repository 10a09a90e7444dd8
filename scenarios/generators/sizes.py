"""The cost by the size of a block, on a fresh heap and behind free blocks that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import MAX_SLOTS, Allocate, Free, Generator, Step, block_size, whole

FRESH, FRAGMENTED = "fresh", "fragmented"
_REQUEST = 0


@dataclass(frozen=True)
class Sizes(Generator):
    """Allocates a block and frees it, `pairs` times, for each size.

    Sizes are `size_min_bytes` and its doubles up to `size_max_bytes`. Then the same is done behind
    `fragments` free blocks of `victim_bytes`, each fenced by a live one of `spacer_bytes`, as
    mem_frag has them.
    """

    size_min_bytes: int = block_size()
    """The first size, doubled up to the last."""
    size_max_bytes: int = block_size()
    pairs: int = whole(1, 1000)
    """Of each size."""
    fragments: int = whole(1, (MAX_SLOTS - 1) // 2)
    """Free blocks, at most 1,023."""
    victim_bytes: int = block_size()
    spacer_bytes: int = block_size()
    OF_64_KIB = {"fragments": 256, "size_max_bytes": 16_384}
    """Pairs of a victim and a spacer, and the largest request beside them."""

    def steps(self) -> Iterator[Step]:
        yield from self._all_sizes(FRESH)
        victims = range(1, 2 * self.fragments, 2)
        for victim in victims:
            yield Step(Allocate(victim, self.victim_bytes, measured=False), "setup")
            yield Step(Allocate(victim + 1, self.spacer_bytes, measured=False), "setup")
        for victim in victims:
            yield Step(Free(victim, measured=False), "setup")
        yield from self._all_sizes(FRAGMENTED)

    def _all_sizes(self, label: str) -> Iterator[Step]:
        size = self.size_min_bytes
        while size <= self.size_max_bytes:
            for trial in range(1, self.pairs + 1):
                yield Step(Allocate(_REQUEST, size), label, trial)
                yield Step(Free(_REQUEST), label, trial)
            size *= 2
