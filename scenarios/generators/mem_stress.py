"""Churn: a bounded live set under a pseudo-random mix of small, medium and large blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import (
    MAX_ENTRIES,
    MAX_SLOTS,
    Allocate,
    Free,
    Generator,
    ScenarioError,
    Step,
    block_size,
    whole,
)
from scenarios.generators.xorshift import Xorshift32


@dataclass(frozen=True)
class MemStress(Generator):
    """Allocates with a chance of `allocate_percent`, and else frees any live block.

    It always allocates when nothing is live, and never when all slots are. A size that is neither
    small nor medium is large.
    """

    seed: int = whole(1, 0xFFFF_FFFF)
    """First state of xorshift32, not 0."""
    operations: int = whole(1, MAX_ENTRIES)
    slots: int = whole(1, MAX_SLOTS)
    """Most blocks that live at once."""
    allocate_percent: int = whole(0, 100)
    """Where there is a choice."""
    small_percent: int = whole(0, 100)
    small_min_bytes: int = block_size()
    small_max_bytes: int = block_size()
    """Both ends are included; so of the others."""
    medium_percent: int = whole(0, 100)
    """The rest is large."""
    medium_min_bytes: int = block_size()
    medium_max_bytes: int = block_size()
    large_min_bytes: int = block_size()
    large_max_bytes: int = block_size()
    OF_64_KIB = {"slots": 128}
    """A live block for each 512 bytes of a heap. With a header of 16 bytes the usual one takes
    150.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if (share := self.small_percent + self.medium_percent) > 100:
            raise ScenarioError(f"small_percent and medium_percent add up to {share}; they share 100.")

    def steps(self) -> Iterator[Step]:
        random = Xorshift32(self.seed)
        slots = list(range(self.slots))  # slots[:live] hold a block
        live = 0
        for _ in range(self.operations):
            # A number is drawn only if there is a choice: their order is part of the workload.
            choice = 0 < live < self.slots
            if random.below(100) < self.allocate_percent if choice else not live:
                yield Step(Allocate(slots[live], self._size(random)))
                live += 1
            else:
                taken = random.below(live)
                live -= 1
                slots[taken], slots[live] = slots[live], slots[taken]
                yield Step(Free(slots[live]))

    def _size(self, random: Xorshift32) -> int:
        kind = random.below(100)
        if kind < self.small_percent:
            return random.between(self.small_min_bytes, self.small_max_bytes)
        if kind < self.small_percent + self.medium_percent:
            return random.between(self.medium_min_bytes, self.medium_max_bytes)
        return random.between(self.large_min_bytes, self.large_max_bytes)
