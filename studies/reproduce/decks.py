"""The tables of the two decks that can be made again: formulae, constructed worst cases, tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2
from statistics import fmean, stdev

from firmware.build.host_heap import HostHeapError
from scenarios import catalogue as scenarios
from studies.reproduce import board
from studies.reproduce.board import BoardRun, allocations, frees
from studies.reproduce.heaps import HeapStudy, WorstOnThisMachine, able
from studies.reproduce.published import PublishedTable, source
from studies.reproduce.remade import Budget, MadeFigure, Measure, Place, Remade
from studies.reproduce.thesis import HEAP_BYTES, constructed
from studies.worst import host
from studies.worst.matrix import constructions

_BOUNDED = "lifetimes_typical"
_CONSTRUCTIONS = {"FF WC": "list", "BB WC": "halving", "AVL BC": "tree", "TLSF WC": "split"}
"""DL BC frees into fastbins, which no allocator here has."""
_NO_FASTBINS = "DL BC does not exist here: it frees into fastbins, which dlmalloc 2.8.6 and newlib lack."
_UNSERVED = "Where an allocator refuses a part of a set-up in 8 MiB, there is no figure of instructions."
_WORST_FROM = (
    "the constructions of the scenario worst; instructions of one operation on this machine in a heap "
    "of 8 MiB, with 16,384 free blocks (FF WC) and 1,000 (AVL BC); cycles of a critical section of the "
    "virtual Nucleo, ART on, 65,536 bytes, with 640 and 90"
)
_TESTS = {"Test 1": "periodic_huge", "Test 2": "periodic_small", "Test 3": "periodic_hybrid"}
_SETS = {f"C{number}": f"periodic_c{number}" for number in range(1, 5)}
_TESTS_BYTES, _SETS_BYTES = 1 << 17, 1 << 21
"""In which every allocator serves every request."""
_PERIODIC_SEEDS = 24
_LISTS_LOG2 = 5
"""The slide's J."""


def bounds(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-bounds: the deck's formulae for one of our traces, and what came out on it.

    M is the trace's peak live memory and m its largest block, in bytes; the formulae bound used
    memory, so less M, in percent of M, they bound F.
    """
    _, part = table.part
    largest = int(scenarios.load(_BOUNDED).parameters["size_max_bytes"])
    factors = {
        "first_fit": 1 + log2(largest),
        "best_fit": largest,
        "avl": largest,
        "binary_buddy": 2 * log2(largest),
        "half_fit": largest,
        "tlsf": largest,
    }
    known = {here: row for row, here in source(table.name.split("-")[0]).names.items()}
    figures: dict[Place, MadeFigure] = {}
    for allocator in budget.allocators(known, set(able(HEAP_BYTES)) & set(known)):
        work = HeapStudy(
            *(allocator, _BOUNDED, budget.seeds, HEAP_BYTES), searches=False, processes=budget.processes
        )
        study = measure(work)
        shares = study["fragmentation_percent"].to_list()
        bound = 100 * (factors[allocator] - 1)
        figures[part.title, known[allocator], "by the formula"] = MadeFigure(bound, 1, 0.01)
        figures[part.title, known[allocator], "most of all seeds"] = MadeFigure(
            max(shares), len(shares), 0.01
        )
    return Remade(
        {"here": figures},
        f"{_BOUNDED}, seeds {budget.seeds[0]} to {budget.seeds[-1]}, replayed on the PC in a heap of "
        f"{HEAP_BYTES:,} bytes; m = {largest:,} bytes",
    )


def ranges(table: PublishedTable, _measure: Measure, _budget: Budget) -> Remade:
    """deck2-ranges: the slide's formula for its example."""
    (part,) = table.part
    (row,) = part.rows
    octave, slot = (int(word) for word in row.strip("()").split(","))
    edges = (2**octave + number * 2 ** (octave - _LISTS_LOG2) for number in (slot, slot + 1))
    figures = {
        (part.title, row, column): MadeFigure(edge, 1, 1)
        for column, edge in zip(part.columns, edges, strict=True)
    }
    return Remade({"here": figures}, "the slide's formula")


def worst_allocation(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-alloc: four constructions on every allocator, in instructions and in cycles."""
    instructions, cycles = (part.title for part in table.part)
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in _rows(table, budget, able(host.HEAP_BYTES)):
        for column, construction in _CONSTRUCTIONS.items():
            if (found := _instructions(measure, allocator, construction)) is not None:
                figures[instructions, row, column] = MadeFigure(found, 1, 1)
    for row, allocator in _rows(table, budget, board.able()):
        for column, construction in _CONSTRUCTIONS.items():
            cost = constructed(measure, allocator, construction)["critical_cycles"][0]
            figures[cycles, row, column] = MadeFigure(cost, 1, 1)
    return Remade({"here": figures}, _WORST_FROM, (_NO_FASTBINS, _UNSERVED))


def worst_free(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-free: the costliest of the frees that are constructed."""
    (part,) = table.part
    figures = _own_worst(
        measure, _rows(table, budget, able(host.HEAP_BYTES)), part.title, "instructions", True
    )
    names = constructions(frees=True)
    for row, allocator in _rows(table, budget, board.able()):
        most = max(constructed(measure, allocator, one)["critical_cycles"][0] for one in names)
        figures[part.title, row, "cycles"] = MadeFigure(most, len(names), 1)
    return Remade({"here": figures}, _WORST_FROM, (_UNSERVED,))


def own_worst(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck2-worst: the costliest of the allocations that are constructed."""
    (part,) = table.part
    rows = _rows(table, budget, able(host.HEAP_BYTES))
    figures = _own_worst(measure, rows, part.title, part.columns[0], False)
    return Remade({"here": figures}, _WORST_FROM, (_NO_FASTBINS, _UNSERVED))


def _own_worst(
    measure: Measure, rows: Iterable[tuple[str, str]], title: str, column: str, frees_: bool
) -> dict[Place, MadeFigure]:
    """The most instructions of the constructions that an allocator serves."""
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in rows:
        counts = [_instructions(measure, allocator, one) for one in constructions(frees=frees_)]
        served = [count for count in counts if count is not None]
        if served:
            figures[title, row, column] = MadeFigure(max(served), len(served), 1)
    return figures


def _instructions(measure: Measure, allocator: str, construction: str) -> int | None:
    """None if the allocator refuses a part of the set-up, though 8 MiB hold it."""
    try:
        return int(measure(WorstOnThisMachine(allocator, construction))["instructions"][0])
    except HostHeapError:
        return None


def _rows(table: PublishedTable, budget: Budget, able_ones: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs for each allocator: its name in the deck, or its own; and its own."""
    known = {here: row for row, here in source(table.name.split("-")[0]).names.items()}
    return [(known.get(name, name), name) for name in budget.allocators(known, able_ones)]


def fragmentation_of_sets(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-fragmentation: mean and deviation of F over the seeds."""
    figures: dict[Place, MadeFigure] = {}
    for part in table.part:
        for row, shares in _shares(table, measure, budget, _SETS[part.title], _SETS_BYTES).items():
            one = {"mean": fmean(shares), "standard deviation": stdev(shares)}
            figures |= {(part.title, row, name): _share(value, shares) for name, value in one.items()}
    return Remade({"here": figures}, _periodic_from(budget, "periodic_c1 to periodic_c4", _SETS_BYTES))


def fragmentation_of_tests(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck2-fragmentation: mean, deviation, most and least of F over the seeds."""
    figures: dict[Place, MadeFigure] = {}
    for part in table.part:
        for row, shares in _shares(table, measure, budget, _TESTS[part.title], _TESTS_BYTES).items():
            one = {"avg": fmean(shares), "stdv": stdev(shares), "max": max(shares), "min": min(shares)}
            figures |= {(part.title, row, name): _share(value, shares) for name, value in one.items()}
    return Remade({"here": figures}, _periodic_from(budget, ", ".join(_TESTS.values()), _TESTS_BYTES))


def cycles(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck2-cycles: whole calls, with the flash accelerator off and on."""
    variants = {
        f"ART {'on' if art else 'off'}": _statistics(table, measure, budget, "operation_cycles", art)
        for art in (False, True)
    }
    return Remade(variants, f"{', '.join(_TESTS.values())}, seed 1; whole calls; {board.BOARD}")


def instructions(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck2-instructions: those of the critical section."""
    found = _statistics(table, measure, budget, "instructions", art=True)
    made_from = (
        f"{', '.join(_TESTS.values())}, seed 1; Thumb-2 instructions of critical sections; {board.BOARD}"
    )
    return Remade({"here": found}, made_from)


def _statistics(
    table: PublishedTable, measure: Measure, budget: Budget, column: str, art: bool
) -> dict[Place, MadeFigure]:
    """The statistics of each part, such as `malloc, Test 1` or `free, Test 1`."""
    figures: dict[Place, MadeFigure] = {}
    for part in table.part:
        operation, test = part.title.split(", ")
        for row, allocator in _rows(table, budget, board.able()):
            run = measure(BoardRun(allocator, _TESTS[test], art))
            samples = (allocations if operation == "malloc" else frees)(run)[column].to_list()
            one: Mapping[str, float] = {
                "avg": fmean(samples),
                "stdv": stdev(samples),
                "max": max(samples),
                "min": min(samples),
            }
            figures |= {
                (part.title, row, name): MadeFigure(value, len(samples), 1) for name, value in one.items()
            }
    return figures


def _shares(
    table: PublishedTable, measure: Measure, budget: Budget, scenario: str, heap_bytes: int
) -> dict[str, list[float]]:
    """F from the beginning of the heap, of every seed. One that refused a request is left out."""
    seeds = budget.seeds[:_PERIODIC_SEEDS]
    found = {}
    for row, allocator in _rows(table, budget, able(heap_bytes)):
        work = HeapStudy(
            *(allocator, scenario, seeds if row != allocator else budget.further_seeds, heap_bytes),
            searches=False,
            processes=budget.processes,
        )
        study = measure(work)
        if not study["failures"].sum():
            found[row] = study["fragmentation_from_start_percent"].to_list()
    return found


def _share(value: float, shares: list[float]) -> MadeFigure:
    return MadeFigure(value, len(shares), 0.01)


def _periodic_from(budget: Budget, names: str, heap_bytes: int) -> str:
    seeds = budget.seeds[:_PERIODIC_SEEDS]
    return f"{names}, seeds {seeds[0]} to {seeds[-1]}, replayed on the PC in a heap of {heap_bytes:,} bytes"
