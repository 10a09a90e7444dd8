"""The heap operations of a program that was recorded, as a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from base.heap_size import DEFAULT_BYTES
from scenarios import trace as scenarios_trace
from scenarios.generator import Allocate, Free, Generator, Place, ScenarioError, Step, file_name, whole
from scenarios.place import LARGE
from scenarios.scaling import Scaling, board
from scenarios.trace import ALLOCATE, FREE, Trace


@dataclass(frozen=True)
class Recorded(Generator):
    """A trace's operations, all measured. One block in `scale` is kept (scaling.py); 0 takes the
    smallest scale that fits the board. Sizes are divided by `divide`.

    The board has no reallocation. There it is what a program does without one: the new block is
    allocated, and then the old one freed.
    """

    trace: str = file_name()
    """A file, relative to the TOML's folder."""
    scale: int = whole(0, 1_000_000)
    """One block in so many is kept; 0: the smallest scale that fits the board."""
    divide: int = whole(1, 65_536)
    """Of sizes, rounded up."""

    def steps(self) -> Iterator[Step]:
        """Slots are used again once they are free. What the program never freed is not freed."""
        held: dict[int, int] = {}
        idle: list[int] = []
        for kind, block, size, alignment in self.scaled.operations.tolist():
            old = held.pop(block, None) if kind != ALLOCATE else None
            if kind != FREE:
                held[block] = idle.pop() if idle else len(held) + (old is not None)
                yield Step(Allocate(held[block], size, align_log2=max(0, alignment.bit_length() - 1)))
            if old is not None:
                idle.append(old)
                yield Step(Free(old))

    def origin(self) -> dict[str, int | str]:
        return {"trace_sha256": self.recording.sha256}

    def on_small(self, place: Place) -> dict[str, int]:
        del place
        return {"scale": 0}

    def fitted(self, heap_bytes: int, place: Place) -> Recorded:
        if not self.scale:
            return replace(self, scale=chosen_scale(self._scaling, heap_bytes, place))
        limits = board(place.entries, place.slots(heap_bytes), heap_bytes)
        if beyond := self._scaling.room(self.scale).beyond(limits):
            fitting = self._scaling.smallest(limits)
            advice = (
                f"--scale {fitting} keeps one block in {fitting:,} with all that is done to it, and fits"
                if fitting is not None
                else "no scale fits, its blocks are too large; divide their sizes with --parameter divide=N"
            )
            raise ScenarioError(f"{self.trace} does not fit the board: {', '.join(beyond)}; {advice}.")
        return self

    @cached_property
    def recording(self) -> Trace:
        """What the file holds. Raises ScenarioError."""
        return scenarios_trace.read(Path(self.trace))

    @cached_property
    def scaled(self) -> Trace:
        """What is left of it."""
        return self._scaling.scaled(self.scale or chosen_scale(self._scaling))

    @cached_property
    def _scaling(self) -> Scaling:
        return Scaling(self.recording, self.divide)


def chosen_scale(scaling: Scaling, heap_bytes: int = DEFAULT_BYTES, place: Place = LARGE) -> int:
    """The smallest scale that fits a board with such a heap. Raises ScenarioError if none does."""
    scale = scaling.smallest(board(place.entries, place.slots(heap_bytes), heap_bytes))
    if scale is None:
        raise ScenarioError(
            f"No scale of {scaling.trace.name} fits the board: its blocks are too large; divide their "
            "sizes with --parameter divide=N."
        )
    return scale
