"""The critical sections of the kernel beside those of the heap, with a stimulus at each phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import Step, whole
from scenarios.generators.fenced_victims import Rounds
from scenarios.operations import KERNEL_CALLS


@dataclass(frozen=True)
class KernelMasking(Rounds):
    """Each round makes an allocation, its free and every call of the kernel.

    The heap has `depth` free blocks that are all too small for the allocation. In round r of
    `rounds` the stimulus comes (r - 1) / rounds of `span_cycles` into each operation.
    """

    rounds: int = whole(1, 1500)

    def steps(self) -> Iterator[Step]:
        yield from self.allocate_pairs()
        yield from self.free_victims(range(self.depth), "setup")
        # Their order gives each call what it needs: an item in the queue, a task to delete.
        yield from self.all_rounds(*KERNEL_CALLS)
