"""Free blocks that are all too small and cannot coalesce: several scenarios set up such a heap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import (
    MAX_SLOTS,
    Allocate,
    Call,
    Free,
    Generator,
    ScenarioError,
    Step,
    block_size,
    whole,
)
from scenarios.stimulus import SWEEP_LEAD_TICKS, SWEEP_SPAN_MAX_TICKS

_MAX_DEPTH = (MAX_SLOTS - 1) // 2  # a victim and a spacer each, and one slot for the request


@dataclass(frozen=True)
class FencedVictims(Generator):
    """`depth` victims to be freed, and a request that is larger than a victim.

    A spacer that stays stands behind each victim, so that freed victims do not coalesce. Victim i
    has slot 2i, its spacer slot 2i + 1.
    """

    depth: int = whole(1, _MAX_DEPTH)
    """Victims freed in the end, at most 1,023."""
    victim_bytes: int = block_size()
    spacer_bytes: int = block_size()
    request_bytes: int = block_size()
    """Larger than a victim."""
    OF_64_KIB = {"depth": 256}
    """A pair for each 256 bytes of a heap. With headers of 16 bytes the usual pair takes 112."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.request_bytes <= self.victim_bytes:
            raise ScenarioError(
                f"request_bytes is {self.request_bytes} and would fit into a freed victim of "
                f"{self.victim_bytes} bytes; make it larger than victim_bytes."
            )

    @property
    def request_slot(self) -> int:
        """The slot after all victims and spacers."""
        return 2 * self.depth

    def allocate_pairs(self) -> Iterator[Step]:
        """Allocates all victims and spacers, unmeasured, in the phase `setup`."""
        for pair in range(self.depth):
            yield Step(Allocate(2 * pair, self.victim_bytes, measured=False), "setup")
            yield Step(Allocate(2 * pair + 1, self.spacer_bytes, measured=False), "setup")

    def free_victims(
        self, victims: range, label: str, depth: int | None = None, measured: bool = False
    ) -> Iterator[Step]:
        """Frees these victims, counted from 0."""
        for victim in victims:
            yield Step(Free(2 * victim, measured=measured), label, depth=depth)


@dataclass(frozen=True)
class Rounds(FencedVictims):
    """`rounds` rounds of a request, its free and calls, behind `depth` free blocks that are all too
    small. In round r the stimulus comes (r - 1) / rounds of `span_cycles` into each operation.
    """

    rounds: int = whole(1, 5000)
    """Of every operation, each with another offset."""
    span_cycles: int = whole(1, SWEEP_SPAN_MAX_TICKS)
    """Over which the offsets move."""

    def all_rounds(self, *calls: str) -> Iterator[Step]:
        """The rounds. The phase of an operation is its name."""
        for trial in range(1, self.rounds + 1):
            offset = SWEEP_LEAD_TICKS + (trial - 1) * self.span_cycles // self.rounds
            allocate = Allocate(self.request_slot, self.request_bytes, stimulus_offset=offset)
            yield Step(allocate, "allocate", trial)
            yield Step(Free(self.request_slot, stimulus_offset=offset), "free", trial)
            yield from (Step(Call(name, stimulus_offset=offset), name, trial) for name in calls)
