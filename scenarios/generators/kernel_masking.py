"""The kernel's own critical sections beside the heap's, each met by a stimulus at every phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generators.fenced_victims import FencedVictims
from scenarios.generators.generator import Step
from scenarios.operations import KERNEL_CALLS, Allocate, Call, Free
from scenarios.parameters import whole
from scenarios.stimulus import SWEEP_LEAD_TICKS, SWEEP_SPAN_MAX_TICKS


@dataclass(frozen=True)
class KernelMasking(FencedVictims):
    """`rounds` times each call of the kernel, an allocation and its free, behind `depth` free blocks that are
    all too small for it. In round r the stimulus comes r / rounds of `span_cycles` into each.
    """

    rounds: int = whole(1, 1500)
    span_cycles: int = whole(1, SWEEP_SPAN_MAX_TICKS)

    def steps(self) -> Iterator[Step]:
        yield from self.allocate_pairs()
        yield from self.free_victims(range(self.depth), "setup")
        for trial in range(1, self.rounds + 1):
            yield from self._round(trial)

    def _round(self, trial: int) -> Iterator[Step]:
        """In an order in which each call finds what it needs: a queue with an item, a task to delete."""
        offset = SWEEP_LEAD_TICKS + (trial - 1) * self.span_cycles // self.rounds
        yield Step(Allocate(self.request_slot, self.request_bytes, stimulus_offset=offset), "allocate", trial)
        yield Step(Free(self.request_slot, stimulus_offset=offset), "free", trial)
        for name in KERNEL_CALLS:
            yield Step(Call(name, stimulus_offset=offset), name, trial)
