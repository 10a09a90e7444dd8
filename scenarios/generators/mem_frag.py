"""A ramp of free blocks that are all too small, and the request that a first fit must walk past them for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.errors import ScenarioError
from scenarios.generators.generator import Generator, Step
from scenarios.operations import MAX_SLOTS, Allocate, Free
from scenarios.parameters import whole

_MAX_BLOCK_BYTES = 65_536
_MAX_DEPTH = (MAX_SLOTS - 1) // 2  # a victim and a spacer each, and one slot for the request


@dataclass(frozen=True)
class MemFrag(Generator):
    """Frees one victim per depth, each fenced by a live spacer, and measures `trials` requests after each.

    Only the requests are measured. Victim i is slot 2i, its spacer slot 2i + 1, the request the slot after
    all of them.
    """

    depth: int = whole(1, _MAX_DEPTH)
    victim_bytes: int = whole(1, _MAX_BLOCK_BYTES)
    spacer_bytes: int = whole(1, _MAX_BLOCK_BYTES)
    request_bytes: int = whole(1, _MAX_BLOCK_BYTES)
    trials: int = whole(1, 1000)

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
        for depth in range(1, self.depth + 1):
            yield from self._at(depth)

    def _at(self, depth: int) -> Iterator[Step]:
        label = f"depth {depth}"
        request = 2 * self.depth
        yield Step(Free(2 * (depth - 1), measured=False), label, depth=depth)
        for trial in range(1, self.trials + 1):
            yield Step(Allocate(request, self.request_bytes), label, trial, depth)
            yield Step(Free(request, measured=False), label, trial, depth)
