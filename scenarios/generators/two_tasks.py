"""Two tasks of different priority on one heap, the urgent one woken at each phase of the other's
section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import Step
from scenarios.generators.fenced_victims import FencedVictims
from scenarios.operations import Allocate, Call, Free
from scenarios.parameters import whole
from scenarios.stimulus import SWEEP_LEAD_TICKS, SWEEP_SPAN_MAX_TICKS


@dataclass(frozen=True)
class TwoTasks(FencedVictims):
    """The task that is not urgent allocates behind `depth` free blocks that are all too small, and
    frees, `rounds` times. In round r the urgent one is woken (r - 1) / rounds of `span_cycles` into
    each operation.
    """

    rounds: int = whole(1, 5000)
    """Of the allocation and its free, each with another offset."""
    span_cycles: int = whole(1, SWEEP_SPAN_MAX_TICKS)
    """Over which the offsets move."""

    def steps(self) -> Iterator[Step]:
        yield from self.allocate_pairs()
        yield from self.free_victims(range(self.depth), "setup")
        yield Step(Call("urgent_task", measured=False), "setup")
        for trial in range(1, self.rounds + 1):
            offset = SWEEP_LEAD_TICKS + (trial - 1) * self.span_cycles // self.rounds
            allocate = Allocate(self.request_slot, self.request_bytes, stimulus_offset=offset)
            yield Step(allocate, "allocate", trial)
            yield Step(Free(self.request_slot, stimulus_offset=offset), "free", trial)
