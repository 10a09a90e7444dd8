"""The critical sections of the kernel beside those of the heap, with a stimulus at each phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import Step
from scenarios.generators.fenced_victims import FencedVictims
from scenarios.operations import KERNEL_CALLS, Allocate, Call, Free
from scenarios.parameters import whole
from scenarios.stimulus import SWEEP_LEAD_TICKS, SWEEP_SPAN_MAX_TICKS


@dataclass(frozen=True)
class KernelMasking(FencedVictims):
    """Each round makes an allocation, its free and every call of the kernel.

    The heap has `depth` free blocks that are all too small for the allocation. In round r of
    `rounds` the stimulus comes (r - 1) / rounds of `span_cycles` into each operation.
    """

    rounds: int = whole(1, 1500)
    """Of every call, each with another offset."""
    span_cycles: int = whole(1, SWEEP_SPAN_MAX_TICKS)
    """Over which the offsets move."""

    def steps(self) -> Iterator[Step]:
        yield from self.allocate_pairs()
        yield from self.free_victims(range(self.depth), "setup")
        for trial in range(1, self.rounds + 1):
            offset = SWEEP_LEAD_TICKS + (trial - 1) * self.span_cycles // self.rounds
            allocate = Allocate(self.request_slot, self.request_bytes, stimulus_offset=offset)
            yield Step(allocate, "allocate", trial)
            yield Step(Free(self.request_slot, stimulus_offset=offset), "free", trial)
            # Their order gives each call what it needs: an item in the queue, a task to delete.
            for name in KERNEL_CALLS:
                yield Step(Call(name, stimulus_offset=offset), name, trial)
