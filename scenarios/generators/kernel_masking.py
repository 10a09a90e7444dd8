"""The kernel's own critical sections beside the heap's, each met by a stimulus at every phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.errors import ScenarioError
from scenarios.generators.generator import Generator, Step
from scenarios.operations import KERNEL_CALLS, MAX_SLOTS, Allocate, Call, Free
from scenarios.parameters import whole
from scenarios.stimulus import SWEEP_LEAD_TICKS, SWEEP_SPAN_MAX_TICKS

_MAX_BLOCK_BYTES = 65_536
_MAX_DEPTH = (MAX_SLOTS - 1) // 2  # a victim and a spacer each, and one slot for the request


@dataclass(frozen=True)
class KernelMasking(Generator):
    """`rounds` times each call of the kernel, an allocation and its free, behind `depth` free blocks that are
    all too small for it. In round r the stimulus comes r / rounds of `span_cycles` into each.
    """

    depth: int = whole(1, _MAX_DEPTH)
    rounds: int = whole(1, 1500)
    span_cycles: int = whole(1, SWEEP_SPAN_MAX_TICKS)
    victim_bytes: int = whole(1, _MAX_BLOCK_BYTES)
    spacer_bytes: int = whole(1, _MAX_BLOCK_BYTES)
    request_bytes: int = whole(1, _MAX_BLOCK_BYTES)

    def __post_init__(self) -> None:
        if self.request_bytes <= self.victim_bytes:
            raise ScenarioError(
                f"request_bytes is {self.request_bytes} and would fit into a freed victim of "
                f"{self.victim_bytes} bytes; make it larger than victim_bytes."
            )

    def steps(self) -> Iterator[Step]:
        for pair in range(self.depth):
            yield Step(Allocate(2 * pair, self.victim_bytes, measured=False), "setup")
            yield Step(Allocate(2 * pair + 1, self.spacer_bytes, measured=False), "setup")
        for pair in range(self.depth):
            yield Step(Free(2 * pair, measured=False), "setup")
        for trial in range(1, self.rounds + 1):
            yield from self._round(trial)

    def _round(self, trial: int) -> Iterator[Step]:
        """In an order in which each call finds what it needs: a queue with an item, a task to delete."""
        offset = SWEEP_LEAD_TICKS + (trial - 1) * self.span_cycles // self.rounds
        request = 2 * self.depth
        yield Step(Allocate(request, self.request_bytes, stimulus_offset=offset), "allocate", trial)
        yield Step(Free(request, stimulus_offset=offset), "free", trial)
        for name in KERNEL_CALLS:
            yield Step(Call(name, stimulus_offset=offset), name, trial)
