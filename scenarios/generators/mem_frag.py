"""A ramp of free blocks that are all too small: a first fit walks past all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import Allocate, Free, Step, whole
from scenarios.generators.fenced_victims import FencedVictims


@dataclass(frozen=True)
class MemFrag(FencedVictims):
    """Frees one more victim at each depth, then allocates and frees `trials` requests.

    All of it is measured but the set-up.
    """

    trials: int = whole(1, 1000)
    """Requests at each depth."""

    def steps(self) -> Iterator[Step]:
        yield from self.allocate_pairs()
        for depth in range(1, self.depth + 1):
            label = f"depth {depth}"
            yield from self.free_victims(range(depth - 1, depth), label, depth, measured=True)
            for trial in range(1, self.trials + 1):
                yield Step(Allocate(self.request_slot, self.request_bytes), label, trial, depth)
                yield Step(Free(self.request_slot), label, trial, depth)
