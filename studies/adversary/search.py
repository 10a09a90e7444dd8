"""One search on one allocator, from its seed to its budget.

What it found costs instructions, cycles and time on the wire, as the virtual board tells.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from base import heap_size
from base.processes import signals
from firmware.build import catalogue, host_heap, host_search
from firmware.build import image as firmware
from firmware.build.host_search import Goal, Progress, Ranking, Terms
from scenarios.operations import MAX_SLOTS, Allocate, Free, Image, encode
from scenarios.stimulus import NO_STIMULUS
from scenarios.trace import ALLOCATE, Operations
from studies import sections

_TICK_INSTRUCTIONS = 32
"""A tick adds fewer to a critical section that it comes into."""

_KINDS: dict[Goal, str] = {"allocate": "AO", "free": "F"}


@dataclass(frozen=True)
class Section:
    """A critical section on the board, of the operation of this place in its list. `wire_ns` is how
    long CRIT is high.
    """

    operation: int
    instructions: int
    cycles: int
    wire_ns: float
    ticks: int


def longest(allocator: str, operations: Operations) -> dict[Goal, Section]:
    """The critical section with the most instructions, of allocations (refused ones too) and of
    frees, where the list has one.

    A kernel's tick is not the allocator's. So a section that one came into stands only if it is the
    longest by more than a tick adds.

    Raises BuildError, SimulatorError, ImageError.
    """
    measured = sections.measure(firmware.build(allocator), encode(image(operations)))
    names = ("operation", "instructions", "critical_cycles", "pulse_ns", "ticks")
    rows = measured.with_row_index("operation").drop_nulls("instructions")
    longest_by_goal: dict[Goal, Section] = {}
    for goal, kinds in _KINDS.items():
        of_kind = rows.filter(pl.col("kind").is_in(list(kinds))).select(names)
        if len(of_kind):
            own = of_kind["instructions"] - _TICK_INSTRUCTIONS * of_kind["ticks"]
            longest_by_goal[goal] = Section(*of_kind.row(int(own.arg_max() or 0)))
    return longest_by_goal


def image(operations: Operations) -> Image:
    """The operations as the firmware runs them, without a stimulus. Raises ImageError."""
    steps = (
        Allocate(slot, size) if kind == ALLOCATE else Free(slot)
        for kind, slot, size, _ in operations.tolist()
    )
    return Image("adversary", NO_STIMULUS, tuple(steps))


What = Literal["allocate", "free", "fragmentation"]

MOST_OPERATIONS = 8192
"""Of a list: enough to bring as many blocks to life as there are slots, to free each, and to bring
half as many to life again."""

SMALLEST_SPREAD_BYTES = 64
"""The smallest request of a list that is to spread blocks (heap/adversary/search.c)."""

_SLICE_LISTS = 250
"""How many lists are tried at a time: so soon a signal is heard."""


@dataclass(frozen=True)
class Budget:
    """When a search ends: after so many lists, or after so many seconds."""

    lists: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class SearchResult:
    """How many lists were tried, and the dearest, each up to its dearest operation. Each executes
    other basic blocks in it, or is of another scale.
    """

    lists: int
    winners: list[Operations]


@dataclass(frozen=True)
class Search:
    """The search for one allocator's worst. Equal fields and budgets of lists give equal winners.

    `live_bytes` limits what may be live, as requested, where blocks are to be spread; elsewhere the
    region does. Of each ranking so many winners are told as `most` says, the dearest first.
    """

    allocator: str
    what: What
    seed: int
    live_bytes: int
    most: Mapping[Ranking, int]

    def run(self, budget: Budget, tell: Callable[[Progress], None] = lambda _: None) -> SearchResult:
        """Searches until the budget is spent. `tell` hears how far it is.

        Raises HostHeapError, signals.Stopped.
        """
        spreads = self.what == "fragmentation"
        goal: Goal = "used" if self.what == "fragmentation" else self.what
        limit = self.live_bytes if spreads else heap_size.DEFAULT_BYTES
        terms = Terms(goal, self.seed, MOST_OPERATIONS, MAX_SLOTS, limit)
        program = host_search.build(self.allocator, goal)
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            state, begin_s = Path(folder) / "state", time.monotonic()
            progress = host_search.breed(program, state, terms, 0)
            while (more := _more(budget, progress.lists, time.monotonic() - begin_s)) > 0:
                progress = host_search.breed(program, state, terms, progress.lists + more)
                tell(progress)
                signals.check()
            ranked = (
                host_search.show(program, state, ranking, rank)
                for ranking, most in self.most.items()
                for rank in range(most)
            )
            winners = {array.tobytes(): array for array in ranked if array is not None}
        return SearchResult(progress.lists, list(winners.values()))


def objection(allocator: str, what: What) -> str | None:
    """Why there is nothing to search, in one sentence; None if there is.

    Of an allocator without a build for this machine the known cases of time are run.
    Raises HostHeapError for an unknown allocator.
    """
    row = catalogue.row(allocator, host_heap.HostHeapError)
    runs = row.target_only and what != "fragmentation"
    if not runs and (refusal := host_heap.objection(allocator, heap_size.DEFAULT_BYTES)):
        return refusal
    if what != "allocate" and "frees" not in row.promises:
        return f"{allocator} never frees."
    return None


def _more(budget: Budget, lists: int, spent_s: float) -> int:
    if budget.seconds is not None:
        return _SLICE_LISTS if spent_s < budget.seconds else 0
    return min(_SLICE_LISTS, (budget.lists or 0) - lists)
