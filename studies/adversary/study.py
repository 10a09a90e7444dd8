"""Searches, confirmed on the virtual board, beside the worst cases that are known.

A row for each allocator and each question. A known case is made for one kind of allocator, and
tried on every one. All keep to the scale of a search.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from analysis.bounds.image import bounds_of
from analysis.fragmentation.metrics import metrics
from base import heap_size
from firmware.build import catalogue, host_heap
from firmware.build import image as firmware
from firmware.build.host_search import Goal, Progress, Ranking
from scenarios import catalogue as scenario_catalogue
from scenarios.generators.worst import CONSTRUCTIONS
from scenarios.trace import Operations, Trace, TraceBuilder, of_steps
from studies.adversary import search as adversary_search
from studies.adversary.row import Row, Space, Time
from studies.adversary.search import (
    SMALLEST_SPREAD_BYTES,
    STATES,
    Budget,
    Search,
    SearchResult,
    What,
    objection,
)
from studies.tables.critical_sections import CriticalSection

_PAIRS = 1000
_HEADER_BYTES = 16

# The smallest victims that lie in the list of a larger request, by how allocators divide sizes.
_VICTIM_REQUEST_BYTES = ((8, 16), (16, 24), (24, 32), (72, 120))


@cache
def worst_cases() -> tuple[Trace, ...]:
    """The worst cases of time, in which a single allocation or free takes long.

    The constructions of `./lab heap worst`, two scenarios, and the longest lists that the region
    holds of an allocator's smallest blocks: the list of `./lab heap worst` fits it with every
    allocator.
    """
    constructions = [_scenario("worst", {"target": target}, target) for target in CONSTRUCTIONS]
    scenarios = [_scenario(name) for name in ("mem_frag", "mem_stress")]
    lists = [_list(victim, request) for victim, request in _VICTIM_REQUEST_BYTES]
    return (*constructions, *scenarios, *lists)


def spread(live_bytes: int, smallest_bytes: int) -> Trace:
    """The worst case of space: few live bytes, as far apart as possible.

    Blocks of one size, of which every other is freed, then blocks twice as large that fit no hole,
    and so on (J. M. Robson, Journal of the ACM 18, 1971, in its plainest form).
    """
    builder = TraceBuilder()
    live: list[tuple[int, int]] = []
    names = count()
    size = smallest_bytes
    while size <= live_bytes // 2:
        while sum(bytes_ for _, bytes_ in live) + size <= live_bytes:
            live.append((next(names), size))
            builder.allocate(*live[-1])
        for name, _ in live[1::2]:
            builder.free(name)
        live, size = live[::2], 2 * size
    return builder.trace("spread")


def _scenario(name: str, parameters: dict[str, Any] | None = None, title: str | None = None) -> Trace:
    found = scenario_catalogue.load(name, parameters or {})
    return of_steps(title or name, found.generator.steps())


def _list(victim_bytes: int, request_bytes: int) -> Trace:
    """Free blocks that are all too small, and behind them in the list those that are large enough.

    Then a request; then the frees of the live blocks that lie first and last.
    """
    builder = TraceBuilder()
    for pair in range(_PAIRS):
        builder.allocate(f"victim {pair}", victim_bytes)
        builder.allocate(f"spacer {pair}", 8)
    rest = list(_fill(builder))
    for name in rest:
        builder.free(name)
    for pair in range(_PAIRS):
        builder.free(f"victim {pair}")
    builder.allocate("request", request_bytes)
    builder.free("spacer 0")
    builder.free(f"spacer {_PAIRS - 1}")
    return builder.trace(f"list of {victim_bytes}")


def _fill(builder: TraceBuilder) -> Iterator[str]:
    """Takes what is left of the region, in large pieces first."""
    for power in range(15, 9, -1):
        name = f"rest {power}"
        builder.allocate(name, (1 << power) - _HEADER_BYTES)
        yield name


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
        best, operations = _longest(allocator, winners, what)
        image = firmware.build(allocator)
        built = image.configuration
        bound = bounds_of(image.elf, allocator, built.locking, built.knobs)[what]
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
        )

    def _winners(self, allocator: str, what: What, tell: OnProgress) -> tuple[int, list[Operations]]:
        """The number of tried lists, and the dearest. For an allocator without a build for this
        machine, the dearest of each that has one.
        """
        if not host_heap.row(allocator).target_only:
            found = self._search(allocator, what, tell)
            ranked = (found.winners(most, ranking) for ranking, most in CONFIRMED.items())
            different = {one.tobytes(): one for winners in ranked for one in winners}
            return found.progress.lists, list(different.values())
        lent = [self._search(lender, what, tell) for lender in lenders(what)]
        return sum(one.progress.lists for one in lent), [list_ for one in lent for list_ in one.winners(LENT)]

    def _search(self, allocator: str, what: What, tell: OnProgress) -> SearchResult:
        search = Search(allocator, what, self.seed, self.live_bytes, self.states)
        return search.run(self.budget, partial(tell, allocator, what))

    def _space_row(self, allocator: str, tell: OnProgress) -> Row:
        found = self._search(allocator, "fragmentation", tell)
        (operations,) = found.winners(1)
        return Row(
            allocator,
            "fragmentation",
            self.seed,
            found.progress.lists,
            space(allocator, Trace("found", operations)),
            space(allocator, spread(self.live_bytes, SMALLEST_SPREAD_BYTES)),
            operations,
            why_no_bound="The machine code bounds time and not space.",
        )


def lenders(what: What) -> list[str]:
    """The allocators with a build for this machine, on which that can be searched."""
    rows = catalogue.allocators().values()
    return [row.id for row in rows if not row.target_only and objection(row.id, what) is None]


def space(allocator: str, trace: Trace) -> Space:
    """The spread of the trace's blocks, by a replay that proves that none overlap.

    Raises HostHeapError.
    """
    program = host_heap.build(allocator, heap_size.DEFAULT_BYTES)
    with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        file = host_heap.write(trace.operations, Path(folder) / "operations")
        replay = host_heap.run(program, file, heap_size.DEFAULT_BYTES)
    found = metrics(trace.operations, replay)
    ratio = found.used_bytes / max(found.peak_live_bytes, 1)
    return Space(trace.name, found.used_bytes, found.peak_live_bytes, ratio)


def known_time(allocator: str, goal: Goal) -> Time:
    """The longest section that a known worst case has on this allocator. Raises SimulatorError."""
    times = (_time(name, longest.get(goal)) for name, longest in _known(allocator).items())
    return max(times, key=lambda one: one.instructions)


@cache
def _known(allocator: str) -> Mapping[str, Mapping[Goal, CriticalSection]]:
    return {trace.name: adversary_search.longest(allocator, trace.operations) for trace in worst_cases()}


def _longest(
    allocator: str, lists: Sequence[Operations], goal: Goal
) -> tuple[CriticalSection | None, Operations]:
    """The longest section that one of the lists has on the board, and that list up to it."""
    sections = [(adversary_search.longest(allocator, one).get(goal), one) for one in lists]
    best, operations = max(sections, key=lambda pair: pair[0].instructions if pair[0] else 0)
    return best, operations[: best.operation + 1] if best else operations


def _time(name: str, section: CriticalSection | None) -> Time:
    if section is None:
        return Time(name, 0, 0, 0.0)
    return Time(name, section.instructions, section.cycles, section.wire_ns)
