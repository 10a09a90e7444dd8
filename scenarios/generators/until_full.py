"""Blocks are allocated until memory runs out, then freed in reverse.

The benchmark of the crate tlsf (README, "memalign until out of memory"), whose generator is
rand_xorshift's; it is seeded here as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import MAX_SLOTS, Allocate, Free, Generator, Step, block_size, choice, whole
from scenarios.generators.xorshift import Xorshift128

_FURTHER_WORDS = (0x1592CFC4, 0xDD0F84FB, 0xB83F159C)
"""Of the crate's state. Its first word is 0x969802F1, the scenarios' seed."""
_RETRIED_BYTES = 1


@dataclass(frozen=True)
class UntilFull(Generator):
    """At most `requests` allocations of drawn sizes, then the frees, the last block first.

    Each is aligned to 1 shifted by a drawn number below `alignments`; with 1 nothing is drawn, and
    the alignment is the allocator's own. A refused request ends the allocations (`stop`), or 1 byte
    is tried in its place, and only a refusal of that ends them (`retry`). What comes behind the end
    is skipped. If it never comes, memory did not run out: raise `requests`.
    """

    seed: int = whole(1, 0xFFFF_FFFF)
    """The first of the generator's four words; the others are the crate's."""
    requests: int = whole(1, MAX_SLOTS)
    """More than fit; those behind the end are skipped."""
    size_min_bytes: int = block_size()
    size_max_bytes: int = block_size()
    """Both ends are included."""
    alignments: int = whole(1, 13)
    """An alignment is 1 shifted by a number below this; 1 draws none."""
    after_refusal: str = choice("stop", "retry")
    """`stop` ends there; `retry` tries 1 byte first."""

    FILLS = True
    OF_64_KIB = {"requests": MAX_SLOTS}

    def steps(self) -> Iterator[Step]:
        random = Xorshift128((self.seed, *_FURTHER_WORDS))
        stops = self.after_refusal == "stop"
        for slot in range(self.requests):
            size = self.size_min_bytes + random.next() % (self.size_max_bytes - self.size_min_bytes + 1)
            # As there, of the second number only the lowest byte is used.
            align_log2 = random.next() % 256 % self.alignments if self.alignments > 1 else 0
            yield Step(Allocate(slot, size, align_log2=align_log2, last_if_refused=stops), "allocate")
            if not stops:
                yield Step(Allocate(slot, _RETRIED_BYTES, retry=True, last_if_refused=True), "allocate")
        for slot in reversed(range(self.requests)):
            yield Step(Free(slot), "free")
