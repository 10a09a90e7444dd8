"""One search on one allocator: it goes on from where it was left, and is left at any moment.

What it found costs instructions, cycles and time on the wire, as the virtual board tells.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from base import heap_size
from base.files.locks import taking_turns
from base.paths import COMPILED
from base.processes import signals
from firmware.build import catalogue, host_heap, host_search
from firmware.build import image as firmware
from firmware.build.host_search import Goal, Progress, Ranking, Terms
from scenarios.operations import MAX_SLOTS, Allocate, Free, Image, Operation, encode
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
    return Image("adversary", NO_STIMULUS, tuple(_operation(*row) for row in operations.tolist()))


def _operation(kind: int, slot: int, size: int, _alignment: int) -> Operation:
    return Allocate(slot, size) if kind == ALLOCATE else Free(slot)


What = Literal["allocate", "free", "fragmentation"]

STATES = COMPILED / "adversary"

MOST_OPERATIONS = 8192
"""Of a list: enough to bring as many blocks to life as there are slots, to free each, and to bring
half as many to life again."""

SMALLEST_SPREAD_BYTES = 64
"""The smallest request of a list that is to spread blocks (heap/adversary/search.c)."""

_SLICE_LISTS = 250
"""How many lists are tried at a time: what an interruption loses at the most."""

_DIGEST_LETTERS = 12


@dataclass(frozen=True)
class Budget:
    """When a search ends: after so many lists in all, or after so many seconds."""

    lists: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    progress: Progress
    program: Path
    state: Path

    def winners(self, most: int, ranking: Ranking = "ways") -> Iterator[Operations]:
        """Up to `most` lists, the dearest first, each up to its dearest operation. Each executes
        other basic blocks in it, or is of another scale. Raises HostHeapError.
        """
        for rank in range(most):
            operations = host_search.show(self.program, self.state, ranking, rank)
            if operations is None:
                return
            yield operations


@dataclass(frozen=True)
class Search:
    """The search for one allocator's worst. Equal fields and budgets of lists give equal winners.

    `live_bytes` limits what may be live, as requested, where blocks are to be spread; elsewhere the
    region does. States are
    files in `states`. A rebuilt allocator begins anew.
    """

    allocator: str
    what: What
    seed: int
    live_bytes: int
    states: Path = STATES

    @property
    def terms(self) -> Terms:
        spreads = self.what == "fragmentation"
        goal: Goal = "used" if self.what == "fragmentation" else self.what
        limit = self.live_bytes if spreads else heap_size.DEFAULT_BYTES
        return Terms(goal, self.seed, MOST_OPERATIONS, MAX_SLOTS, limit)

    def run(self, budget: Budget, tell: Callable[[Progress], None] = lambda _: None) -> SearchResult:
        """Searches on until the budget is spent. `tell` hears how far it is.

        Raises HostHeapError, WriteError, signals.Stopped.
        """
        program = host_search.build(self.allocator, self.terms.goal)
        state = self._state(program)
        with taking_turns(state):
            return self._go_on(program, state, budget, tell)

    def _go_on(
        self, program: Path, state: Path, budget: Budget, tell: Callable[[Progress], None]
    ) -> SearchResult:
        progress = host_search.breed(program, state, self.terms, 0)
        if budget.lists is not None and progress.lists > budget.lists:
            # It has gone farther before. What so many lists find must not depend on that.
            state = state.with_name(f"{state.name}-{budget.lists}")
            progress = host_search.breed(program, state, self.terms, 0)
        tell(progress)
        spent_s = 0.0
        while (more := _more(budget, progress.lists, spent_s)) > 0:
            start_s = time.monotonic()
            progress = host_search.breed(program, state, self.terms, progress.lists + more)
            spent_s += time.monotonic() - start_s
            tell(progress)
            signals.check()
        return SearchResult(progress, program, state)

    def _state(self, program: Path) -> Path:
        terms = [self.allocator, self.what, f"seed{self.seed}"]
        terms += [f"live{self.live_bytes}"] if self.what == "fragmentation" else []
        return self.states / f"{'-'.join(terms)}-{host_search.digest(program)[:_DIGEST_LETTERS]}"


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
