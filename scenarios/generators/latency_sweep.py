"""One stimulus in each request, a little later from one to the next: latency against phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import Allocate, Call, Free, Place, ScenarioError, Step, whole
from scenarios.generators.fenced_victims import FencedVictims
from scenarios.stimulus import SWEEP_LEAD_TICKS, SWEEP_SPAN_MAX_TICKS

EMPTY = "empty"
EMPTY_ROUNDS = 2
_EMPTY_CYCLES_WITHOUT_CACHE = 511
"""Longer than an empty section under the scheduler's lock where the flash has no cache, as on small
chips. Odd, so that the next round finds other cache lines.
"""


@dataclass(frozen=True)
class LatencySweep(FencedVictims):
    """Sweeps the stimulus over the same request, on the heap of mem_frag at several depths.

    There are `depths` depths, evenly apart up to `depth`. At each the request is allocated and
    freed again and again, with the stimulus at another offset each time. The offsets take every
    cycle of the first `fine_cycles`, in which the mask is raised. From there they go in steps of
    `step_cycles`, up to `base_cycles` plus `cycles_per_block` for each block of the depth. Before
    the depths, an empty section is swept too, at each of its `empty_cycles`.

    Only the swept operations are measured. Trials count the offsets.
    """

    depths: int = whole(1, 64)
    """How many depths, evenly apart up to `depth`."""
    fine_cycles: int = whole(0, 4096)
    """From the beginning, one offset per cycle."""
    step_cycles: int = whole(1, 4096)
    """From there on."""
    base_cycles: int = whole(1, SWEEP_SPAN_MAX_TICKS)
    """The sweep's length is this and `cycles_per_block` for each free block."""
    cycles_per_block: int = whole(0, 1000)
    empty_cycles: int = whole(1, 4096)
    """The sweep's length over the empty section; longer than it, and odd."""

    def on_small(self, place: Place) -> dict[str, int]:
        cycles = max(self.empty_cycles, _EMPTY_CYCLES_WITHOUT_CACHE)
        return super().on_small(place) | {"empty_cycles": cycles}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depths > self.depth:
            raise ScenarioError(f"There are no {self.depths} depths up to {self.depth}; lower depths.")
        if (span := self._span(self.depth)) > SWEEP_SPAN_MAX_TICKS:
            raise ScenarioError(
                f"A sweep of {span} cycles at depth {self.depth} does not fit in {SWEEP_SPAN_MAX_TICKS}."
            )

    def steps(self) -> Iterator[Step]:
        # Each empty section follows a request, and so finds the caches as a request finds them.
        for trial in range(1, EMPTY_ROUNDS * self.empty_cycles + 1):
            offset = SWEEP_LEAD_TICKS + (trial - 1) % self.empty_cycles
            yield Step(Allocate(self.request_slot, self.request_bytes, measured=False), EMPTY, trial)
            yield Step(Free(self.request_slot, measured=False), EMPTY, trial)
            yield Step(Call(EMPTY, stimulus_offset=offset), EMPTY, trial)
        yield from self.allocate_pairs()
        reached = 0
        for number in range(1, self.depths + 1):
            depth = self.depth * number // self.depths
            label, span = f"depth {depth}", self._span(depth)
            yield from self.free_victims(range(reached, depth), label, depth)
            reached = depth
            fine = min(self.fine_cycles, span)
            for trial, phase in enumerate((*range(fine), *range(fine, span, self.step_cycles)), 1):
                offset = SWEEP_LEAD_TICKS + phase
                allocate = Allocate(self.request_slot, self.request_bytes, stimulus_offset=offset)
                yield Step(allocate, label, trial, depth)
                yield Step(Free(self.request_slot, measured=False), label, trial, depth)

    def _span(self, depth: int) -> int:
        return self.base_cycles + self.cycles_per_block * depth
