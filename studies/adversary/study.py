"""Searches, confirmed on the virtual board, beside the worst cases that are known: a row for each
allocator and each question, and the limits that the list of operations came to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

from analysis.bounds.image import code_bounds
from analysis.fragmentation.metrics import metrics
from base import heap_size
from base.files.whole import write_bytes
from firmware.build import catalogue, host_heap
from firmware.build import image as firmware
from firmware.build.host_search import Goal, Progress, Ranking
from scenarios.operations import MAX_SLOTS
from scenarios.trace import ALLOCATE, Operations, Trace
from studies.adversary import search as adversary_search
from studies.adversary.known import spread, worst_cases
from studies.adversary.search import (
    MOST_OPERATIONS,
    SMALLEST_SPREAD_BYTES,
    STATES,
    Budget,
    Search,
    SearchResult,
    What,
    objection,
)
from studies.tables.critical_sections import CriticalSection

_NEAR = 0.98
"""A list that has taken so much of a limit is bound by it."""


def shares(allocator: str, operations: Operations) -> Mapping[str, float]:
    """Which part of each limit the list takes, the region by a replay where there is a build for
    this machine. Raises HostHeapError.
    """
    taken = {"slots": most_slots(operations) / MAX_SLOTS, "operations": len(operations) / MOST_OPERATIONS}
    if not catalogue.row(allocator, host_heap.HostHeapError).target_only:
        used = space(allocator, Trace("found", operations)).used_bytes
        taken["region"] = used / heap_size.DEFAULT_BYTES
    return taken


def reached(allocator: str, operations: Operations) -> tuple[str, ...]:
    """The names of the limits that the list came to, the one it took most of first."""
    taken = shares(allocator, operations)
    return tuple(sorted((name for name in taken if taken[name] >= _NEAR), key=lambda name: -taken[name]))


def most_slots(operations: Operations) -> int:
    """The most slots that are taken at one time: blocks that are live or were refused."""
    taken = (operations[:, 0] == ALLOCATE).astype(int) * 2 - 1
    return int(taken.cumsum().max(initial=0))


# Searches, confirmed on the virtual board, beside the worst cases that are known.


@dataclass(frozen=True)
class Time:
    """The longest critical section of a list of operations on the board."""

    name: str
    instructions: int
    cycles: int
    wire_ns: float


@dataclass(frozen=True)
class Space:
    """The spread of a list's blocks on the PC. `ratio` is used over live, Johnstone's fourth."""

    name: str
    used_bytes: int
    peak_live_bytes: int
    ratio: float


@dataclass(frozen=True)
class Row:
    """The worst found on one allocator, beside the known worst case and the bound.

    `lists` is how many were tried on the PC. `bound_instructions` and `bound_cycles` are those of
    the machine code, None where there is none; `why_no_bound` then says why. `limits` names those
    limits of a list that the one found came to.
    """

    allocator: str
    what: What
    seed: int
    lists: int
    found: Time | Space
    known: Time | Space
    operations: Operations = field(repr=False)
    bound_instructions: int | None = None
    bound_cycles: int | None = None
    why_no_bound: str | None = None
    limits: tuple[str, ...] = ()

    @property
    def found_over_known(self) -> float:
        """The ratio of instructions, or of used bytes."""
        return _size(self.found) / _size(self.known)

    @property
    def found_over_bound(self) -> float | None:
        return None if self.bound_instructions is None else _size(self.found) / self.bound_instructions

    def as_json(self) -> dict[str, Any]:
        """The row as the document has it."""
        return {
            "allocator": self.allocator,
            "what": self.what,
            "seed": self.seed,
            "lists": self.lists,
            "operations": len(self.operations),
            "found": asdict(self.found),
            "known": asdict(self.known),
            "found_over_known": self.found_over_known,
            "bound_instructions": self.bound_instructions,
            "bound_cycles": self.bound_cycles,
            "why_no_bound": self.why_no_bound,
            "found_over_bound": self.found_over_bound,
            "limits": list(self.limits),
        }


def _size(figure: Time | Space) -> int:
    return figure.instructions if isinstance(figure, Time) else figure.used_bytes


def write(row: Row, folder: Path) -> Path:
    """Writes the row's operations as `<allocator>-<what>.csv`. Raises WriteError."""
    lines = [f"# {sentence}" for sentence in _told(row)] + list(_lines(row.operations))
    trace = path(folder, row.allocator, row.what)
    return write_bytes(trace, "".join(f"{line}\n" for line in lines).encode())


def path(folder: Path, allocator: str, what: str) -> Path:
    """The path that write() uses."""
    return folder / f"{allocator}-{what}.csv"


def _told(row: Row) -> Iterator[str]:
    last = "The last operation is the worst." if row.what != "fragmentation" else "Few bytes, far apart."
    yield f"The worst that was found for {row.allocator}, {row.what}, on a heap of 64 KiB. {last}"
    command = f"./lab heap adversary --allocator {row.allocator} --what {row.what}"
    yield f"{command}, seed {row.seed}, {row.lists} lists"


def _lines(operations: Operations) -> Iterator[str]:
    for kind, slot, size, _ in operations.tolist():
        yield f"a,{slot},{size}" if kind == ALLOCATE else f"f,{slot}"


# How far a list of operations spreads its blocks, by a replay on this machine.


def space(allocator: str, trace: Trace) -> Space:
    """The spread of the trace's blocks, by a replay that proves that none overlap.

    Raises HostHeapError.
    """
    program = host_heap.build(allocator, heap_size.DEFAULT_BYTES)
    with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        file = host_heap.write(trace.operations, Path(folder) / "operations")
        replay = host_heap.run(program, file, heap_size.DEFAULT_BYTES)
    figures = metrics(trace.operations, replay)
    ratio = figures.used_bytes / max(figures.peak_live_bytes, 1)
    return Space(trace.name, figures.used_bytes, figures.peak_live_bytes, ratio)


# Searches, confirmed on the virtual board, beside the worst cases that are known.


CONFIRMED: dict[Ranking, int] = {"ways": 12, "scale": 12}
"""How many of a search's winners are run on the board, which says which is the dearest. Those of
each scale too: one set of basic blocks may run in many ways, whose order on the PC is another."""

LENT = 8
"""How many winners of each lender are run on an allocator that has no build for this machine."""

OnProgress: TypeAlias = Callable[[str, What, Progress], None]


@dataclass(frozen=True)
class Study:
    """The question. `jobs` searches go on at a time; the rows do not depend on it.

    `live_bytes` is the most that may be live where blocks are to be spread.
    """

    pairs: Sequence[tuple[str, What]]
    budget: Budget
    seed: int
    live_bytes: int
    jobs: int = 1
    states: Path = STATES

    def rows(self, tell: OnProgress = lambda *_: None) -> Iterator[Row]:
        """The rows in the order of the pairs. `tell` hears the progress of each search.

        Raises BuildError, HostHeapError, SimulatorError, WriteError, signals.Stopped.
        """
        with ThreadPoolExecutor(self.jobs) as pool:
            futures = [pool.submit(self._row, *pair, tell) for pair in self.pairs]
            try:
                for future in futures:
                    yield future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _row(self, allocator: str, what: What, tell: OnProgress) -> Row:
        if what == "fragmentation":
            return self._space_row(allocator, tell)
        lists, winners = self._winners(allocator, what, tell)
        best, operations = _longest(allocator, [*winners, *_known_lists(allocator, what)], what)
        image = firmware.build(allocator)
        built = image.configuration
        bound = code_bounds(image.elf, allocator, built.knobs, built.flash_acr, MAX_SLOTS)[what]
        return Row(
            allocator,
            what,
            self.seed,
            lists,
            _time("found", best),
            known_time(allocator, what),
            operations,
            bound.instructions,
            bound.cycles,
            bound.why_not,
            reached(allocator, operations),
        )

    def _winners(self, allocator: str, what: What, tell: OnProgress) -> tuple[int, list[Operations]]:
        """The number of tried lists, and the dearest. For an allocator without a build for this
        machine, the dearest of each that has one.
        """
        if not catalogue.row(allocator, host_heap.HostHeapError).target_only:
            result = self._search(allocator, what, tell)
            ranked = (result.winners(most, ranking) for ranking, most in CONFIRMED.items())
            different = {array.tobytes(): array for winners in ranked for array in winners}
            return result.progress.lists, list(different.values())
        lent = [self._search(lender, what, tell) for lender in lenders(what)]
        return sum(result.progress.lists for result in lent), [
            list_ for result in lent for list_ in result.winners(LENT)
        ]

    def _search(self, allocator: str, what: What, tell: OnProgress) -> SearchResult:
        search = Search(allocator, what, self.seed, self.live_bytes, self.states)
        return search.run(self.budget, partial(tell, allocator, what))

    def _space_row(self, allocator: str, tell: OnProgress) -> Row:
        result = self._search(allocator, "fragmentation", tell)
        (operations,) = result.winners(1)
        return Row(
            allocator,
            "fragmentation",
            self.seed,
            result.progress.lists,
            space(allocator, Trace("found", operations)),
            space(allocator, spread(self.live_bytes, SMALLEST_SPREAD_BYTES)),
            operations,
            why_no_bound="The machine code bounds time and not space.",
        )


def lenders(what: What) -> list[str]:
    """The allocators with a build for this machine, on which that can be searched."""
    rows = catalogue.allocators().values()
    return [row.id for row in rows if not row.target_only and objection(row.id, what) is None]


def known_time(allocator: str, goal: Goal) -> Time:
    """The longest section that a known worst case has on this allocator. Raises SimulatorError."""
    times = (_time(name, longest.get(goal)) for name, longest in _known(allocator).items())
    return max(times, key=lambda time: time.instructions)


def _known_lists(allocator: str, goal: Goal) -> list[Operations]:
    """The longest known case of this allocator: a search begins with what is known."""
    name = known_time(allocator, goal).name
    return [trace.operations for trace in worst_cases() if trace.name == name]


@cache
def _known(allocator: str) -> Mapping[str, Mapping[Goal, CriticalSection]]:
    return {trace.name: adversary_search.longest(allocator, trace.operations) for trace in worst_cases()}


def _longest(
    allocator: str, lists: Sequence[Operations], goal: Goal
) -> tuple[CriticalSection | None, Operations]:
    """The longest section that one of the lists has on the board, and that list up to it."""
    sections = [(adversary_search.longest(allocator, array).get(goal), array) for array in lists]
    best, operations = max(sections, key=lambda pair: pair[0].instructions if pair[0] else 0)
    return best, operations[: best.operation + 1] if best else operations


def _time(name: str, section: CriticalSection | None) -> Time:
    if section is None:
        return Time(name, 0, 0, 0.0)
    return Time(name, section.instructions, section.cycles, section.wire_ns)
