"""The tables of the two decks that can be made again: formulae, constructed worst cases, tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import log2
from statistics import fmean, stdev

import polars as pl

from firmware.build.host_heap import HostHeapError
from studies.reproduce import board
from studies.reproduce.board import BoardRun, allocations, frees
from studies.reproduce.empty import NOTHING, fixed_cost
from studies.reproduce.heaps import HeapStudy, WorstOnThisMachine, able
from studies.reproduce.placed import at_placements, figures_at
from studies.reproduce.published import PublishedTable, Source, source
from studies.reproduce.remade import Budget, MadeFigure, Measure, Place, Remade, over_placements
from studies.reproduce.spread import Spread
from studies.reproduce.thesis import TRACES, construction
from studies.worst import host
from studies.worst.matrix import constructions

_BY_ADDRESS = "FF by address"
_FORMULAE: Mapping[str, Callable[[int], float]] = {
    "FF": lambda largest: 1 + log2(largest),
    _BY_ADDRESS: lambda largest: 1 + log2(largest),
    "BB": lambda largest: 2 * log2(largest),
}
"""Used memory at most over M, by m: those that state a constant."""
_CONSTRUCTIONS = {"FF WC": "list", "BB WC": "halving", "AVL BC": "tree", "TLSF WC": "split"}
"""DL BC frees into fastbins, which no allocator here has."""
_NO_FASTBINS = "DL BC does not exist here: it frees into fastbins, which dlmalloc 2.8.6 and newlib lack."
_UNSERVED = "Where an allocator refuses a part of a set-up in 8 MiB, there is no figure of instructions."
_WORST_FROM = (
    "the constructions of the scenario worst; instructions of one operation on this machine in a heap "
    "of 8 MiB, with 16,384 free blocks (FF WC) and 1,000 (AVL BC); cycles of a critical section of the "
    "virtual Nucleo, ART on, 65,536 bytes, with 640 and 90, less those of an empty section"
)
_TESTS = {"Test 1": "periodic_huge", "Test 2": "periodic_small", "Test 3": "periodic_hybrid"}
_SETS = {f"C{number}": f"periodic_c{number}" for number in range(1, 5)}
_TESTS_BYTES, _SETS_BYTES = 1 << 17, 1 << 21
"""In which every allocator serves every request."""
_PERIODIC_SEEDS = 24
_LISTS_LOG2 = 5
"""The slide's J."""


def bounds(table: PublishedTable, measure: Measure, _budget: Budget) -> Remade:
    """deck1-bounds: used memory on the trace that a search found worst, and the deck's formula.

    M is the most that live blocks took at a time and m the largest block, in bytes, headers
    included. A formula in O() has no constant, and so no figure.
    """
    _, part = table.part
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in {**_deck(table).names, _BY_ADDRESS: "first_fit_ordered"}.items():
        bytes_ = measure(Spread(allocator)).row(0, named=True)
        live, largest = bytes_["peak_live"], bytes_["largest"]
        found = {"used": bytes_["used"], "M": live, "m": largest}
        if row in _FORMULAE:
            found["by the formula"] = live * _FORMULAE[row](largest)
        figures |= {(part.title, row, column): MadeFigure(value, 1, 1) for column, value in found.items()}
    witnesses = {
        "by address": figures[part.title, _BY_ADDRESS, "used"],
        "by address at most": figures[part.title, _BY_ADDRESS, "by the formula"],
    }
    made_from = (
        "the trace of scenarios/found that spreads the blocks of each allocator furthest, replayed on the PC "
        "in a heap of 65,536 bytes"
    )
    return Remade({"here": figures}, made_from, witnesses=witnesses)


def summary(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-summary: the figures behind the marks, those of deck1-alloc and deck1-fragmentation."""
    (part,) = table.part
    columns = part.columns[-4:]
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in _rows(table, budget, able(host.HEAP_BYTES)):
        counts = [_instructions(measure, allocator, one) for one in _CONSTRUCTIONS.values()]
        served = [count for count in counts if count is not None]
        if served:
            figures[part.title, row, columns[0]] = MadeFigure(max(served), len(served), 1)
            figures[part.title, row, columns[1]] = MadeFigure(max(served) / min(served), len(served), 0.1)
    sets = [_shares(table, measure, budget, name, _SETS_BYTES) for name in _SETS.values()]
    for row in dict.fromkeys(row for one in sets for row in one):
        shares = [share for one in sets for share in one.get(row, [])]
        figures[part.title, row, columns[2]] = _share(fmean(shares), shares, of_all=True)
        figures[part.title, row, columns[3]] = _share(stdev(shares), shares)
    made_from = (
        "deck1-alloc: the most instructions of FF WC, BB WC, AVL BC and TLSF WC, and that over the least; "
        "deck1-fragmentation: F of all sets and seeds"
    )
    return Remade({"here": figures}, made_from, (_UNSERVED,))


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
    witnesses = {
        "printed": MadeFigure(part.printed(row, part.columns[0]) or 0, 1, 1),
        "by the formula": figures[part.title, row, part.columns[0]],
    }
    return Remade({"here": figures}, "the slide's formula", witnesses=witnesses)


def worst_allocation(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-alloc: four constructions on every allocator, in instructions and in cycles."""
    instructions, cycles = (part.title for part in table.part)
    fixed = fixed_cost(measure, budget, TRACES["Small"], "critical_cycles", art=True)
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in _rows(table, budget, able(host.HEAP_BYTES)):
        for column, target in _CONSTRUCTIONS.items():
            if (found := _instructions(measure, allocator, target)) is not None:
                figures[instructions, row, column] = MadeFigure(found, 1, 1)
    for row, allocator in _rows(table, budget, board.able()):
        for column, target in _CONSTRUCTIONS.items():
            figures[cycles, row, column] = _longest(
                measure, budget, row != allocator, allocator, [target], fixed.allocation
            )
    return Remade({"here": figures}, _WORST_FROM, (_NO_FASTBINS, _UNSERVED))


def worst_free(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-free: the costliest of the frees that are constructed."""
    (part,) = table.part
    figures = _own_worst(
        measure, _rows(table, budget, able(host.HEAP_BYTES)), part.title, "instructions", True
    )
    names = constructions(frees=True)
    fixed = fixed_cost(measure, budget, TRACES["Small"], "critical_cycles", art=True)
    for row, allocator in _rows(table, budget, board.able()):
        figures[part.title, row, "cycles"] = _longest(
            measure, budget, row != allocator, allocator, names, fixed.free
        )
    return Remade({"here": figures}, _WORST_FROM, (_UNSERVED,))


def _longest(
    measure: Measure, budget: Budget, published: bool, allocator: str, targets: Sequence[str], cost: float
) -> MadeFigure:
    """The longest critical section of the constructions, less the fixed cost, over placements."""
    count = budget.placements(published)
    runs = (at_placements(measure, construction(allocator, one), count, budget.processes) for one in targets)
    longest = (
        max(run.filter("measured")["critical_cycles"][0] for run in at_one_place)
        for at_one_place in zip(*runs, strict=True)
    )
    return over_placements([MadeFigure(one - cost, len(targets), 1) for one in longest])


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
    known = {here: row for row, here in _deck(table).names.items()}
    return [(known.get(name, name), name) for name in budget.allocators(known, able_ones)]


def _deck(table: PublishedTable) -> Source:
    return source(table.name.split("-")[0])


def fragmentation_of_sets(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-fragmentation: mean and deviation of F over the seeds."""
    figures: dict[Place, MadeFigure] = {}
    for part in table.part:
        for row, shares in _shares(table, measure, budget, _SETS[part.title], _SETS_BYTES).items():
            one = {"mean": fmean(shares), "standard deviation": stdev(shares)}
            figures |= {
                (part.title, row, name): _share(value, shares, name == "mean") for name, value in one.items()
            }
    return Remade({"here": figures}, _periodic_from(budget, "periodic_c1 to periodic_c4", _SETS_BYTES))


def fragmentation_of_tests(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck2-fragmentation: mean, deviation, most and least of F over the seeds."""
    figures: dict[Place, MadeFigure] = {}
    for part in table.part:
        for row, shares in _shares(table, measure, budget, _TESTS[part.title], _TESTS_BYTES).items():
            one = {"avg": fmean(shares), "stdv": stdev(shares), "max": max(shares), "min": min(shares)}
            figures |= {
                (part.title, row, name): _share(value, shares, name == "avg") for name, value in one.items()
            }
    return Remade({"here": figures}, _periodic_from(budget, ", ".join(_TESTS.values()), _TESTS_BYTES))


def cycles(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck2-cycles: whole calls, net of an empty section, with the flash accelerator on and off."""
    variants = {
        "net": _statistics(table, measure, budget, "operation_cycles", True, net=True),
        "net with ART off": _statistics(table, measure, budget, "operation_cycles", False, net=True),
        "whole call": _statistics(table, measure, budget, "operation_cycles", True, net=False),
    }
    made_from = (
        f"{', '.join(_TESTS.values())}, seed 1; ART on if nothing else is said; net: the whole call less "
        f"that of an empty section; {board.BOARD}"
    )
    return Remade(variants, made_from, judged=("net", "net with ART off"))


def instructions(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck2-instructions: those of the critical section, net of an empty one."""
    found = _statistics(table, measure, budget, "instructions", art=True, net=True)
    made_from = (
        f"{', '.join(_TESTS.values())}, seed 1; Thumb-2 instructions of critical sections less those of an "
        f"empty one; {board.BOARD}"
    )
    return Remade({"net": found}, made_from)


def _statistics(
    table: PublishedTable, measure: Measure, budget: Budget, column: str, art: bool, net: bool
) -> dict[Place, MadeFigure]:
    """The statistics of each part, such as `malloc, Test 1` or `free, Test 1`; cycles over the
    placements of the code.
    """
    figures: dict[Place, MadeFigure] = {}
    for part in table.part:
        operation, test = part.title.split(", ")
        fixed = fixed_cost(measure, budget, _TESTS[test], column, art) if net else NOTHING
        cost = fixed.allocation if operation == "malloc" else fixed.free
        part_of = allocations if operation == "malloc" else frees
        for row, allocator in _rows(table, budget, board.able()):
            run = BoardRun(allocator, _TESTS[test], art)
            if column == "instructions":
                found = _of_samples(part_of(measure(run))[column], cost)
            else:
                runs = at_placements(measure, run, budget.placements(row != allocator), budget.processes)
                found = figures_at((part_of(one)[column] for one in runs), partial(_of_samples, cost=cost))
            figures |= {(part.title, row, name): one for name, one in found.items()}
    return figures


def _of_samples(values: pl.Series, cost: float) -> dict[str, MadeFigure]:
    samples = [one - cost for one in values]
    found: Mapping[str, float] = {
        "avg": fmean(samples),
        "stdv": stdev(samples),
        "max": max(samples),
        "min": min(samples),
    }
    return {name: MadeFigure(value, len(samples), 1) for name, value in found.items()}


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


def _share(value: float, shares: list[float], of_all: bool = False) -> MadeFigure:
    """A figure of all seeds; those of each stand behind a mean."""
    return MadeFigure(value, len(shares), 0.01, samples=tuple(shares) if of_all else ())


def _periodic_from(budget: Budget, names: str, heap_bytes: int) -> str:
    seeds = budget.seeds[:_PERIODIC_SEEDS]
    return f"{names}, seeds {seeds[0]} to {seeds[-1]}, replayed on the PC in a heap of {heap_bytes:,} bytes"
