"""One search on one allocator, from its seed to its budget.

What it found costs instructions, cycles and time on the wire, as the virtual board tells.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from base import heap_size
from base.processes import signals
from firmware.build import catalogue, host_heap, host_search
from firmware.build import image as firmware
from firmware.build.host_search import Goal, Progress, Ranking
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
    steps = (
        Allocate(slot, size) if kind == ALLOCATE else Free(slot)
        for kind, slot, size, _ in operations.tolist()
    )
    image = encode(Image("adversary", NO_STIMULUS, tuple(steps)))
    measured = sections.measure(firmware.build(allocator), image).with_row_index("operation")
    own = pl.col("instructions") - _TICK_INSTRUCTIONS * pl.col("ticks")
    return {
        goal: Section(*row)
        for goal, kinds in _KINDS.items()
        for row in measured.drop_nulls("instructions")
        .filter(pl.col("kind").is_in(list(kinds)))
        .filter(own == own.max())
        .select("operation", "instructions", "critical_cycles", "pulse_ns", "ticks")
        .head(1)
        .rows()
    }


What = Literal["allocate", "free", "fragmentation"]

MOST_OPERATIONS = 8192
"""Of a list: enough to bring as many blocks to life as there are slots, to free each, and to bring
half as many to life again."""

SMALLEST_SPREAD_BYTES = 64
"""The smallest request of a list that is to spread blocks (heap/adversary/search.c)."""

_SLICE_LISTS = 250
"""How many lists are tried at a time: so soon a signal is heard."""


class Budget(NamedTuple):
    """When a search ends: after so many lists, or after so many seconds; of neither, when a signal
    comes.
    """

    lists: int = sys.maxsize
    seconds: float = math.inf


def run(
    allocator: str,
    what: What,
    seed: int,
    live_bytes: int,
    budget: Budget,
    tell: Callable[[Progress], None],
    most: Mapping[Ranking, int],
) -> tuple[int, list[Operations]]:
    """Searches for one allocator's worst until the budget is spent: how many lists were tried, and
    the dearest, each up to its dearest operation. Each executes other basic blocks in it, or is of
    another scale. Equal words and budgets of lists give equal winners.

    `live_bytes` limits what may be live, as requested, where blocks are to be spread; elsewhere the
    region does. `tell` hears how far it is. Of each ranking there are so many winners as `most`
    says, the dearest first. Raises HostHeapError, signals.Stopped.
    """
    goal: Goal = "used" if what == "fragmentation" else what
    limits = (MOST_OPERATIONS, MAX_SLOTS, live_bytes if goal == "used" else heap_size.DEFAULT_BYTES)
    program = host_search.build(allocator, goal)
    with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        state, end_s = Path(folder) / "state", time.monotonic() + budget.seconds
        lists = host_search.breed(program, state, goal, seed, 0, *limits).lists
        while lists < budget.lists and time.monotonic() < end_s:
            more = min(lists + _SLICE_LISTS, budget.lists)
            progress = host_search.breed(program, state, goal, seed, more, *limits)
            lists = progress.lists
            tell(progress)
            signals.check()
        ranked = (
            host_search.show(program, state, ranking, rank)
            for ranking, number in most.items()
            for rank in range(number)
        )
        winners = {array.tobytes(): array for array in ranked if array is not None}
    return lists, list(winners.values())


def objection(allocator: str, what: What) -> str | None:
    """Why there is nothing to search, in one sentence; None if there is.

    Of an allocator without a build for this machine the known cases of time are run.
    Raises HostHeapError for an unknown allocator.
    """
    row = catalogue.row(allocator, host_heap.HostHeapError)
    runs = row.target_only and what != "fragmentation"
    if not runs and (refusal := host_heap.objection(allocator, heap_size.DEFAULT_BYTES)):
        return refusal
    never = what != "allocate" and "frees" not in row.promises
    return f"{allocator} never frees." if never else None
