"""The tables of the two decks that can be made again."""

from __future__ import annotations

from math import log2

from analysis.reproduce.heaps import HeapStudy, able
from analysis.reproduce.published import PublishedTable, source
from analysis.reproduce.remade import Budget, Found, Measure, Place, Remade
from analysis.reproduce.thesis import HEAP_BYTES
from scenarios import catalogue as scenarios

_BOUNDED = "lifetimes_typical"
_LISTS_LOG2 = 5
"""The slide's J."""


def bounds(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """deck1-bounds: the deck's formulae for one of our traces, and what came out on it.

    M is the trace's peak live memory and m its largest block, in bytes; the formulae bound used
    memory, so less M, in percent of M, they bound F.
    """
    _, part = table.part
    largest = scenarios.load(_BOUNDED).parameters["size_max_bytes"]
    factors = {
        "first_fit": 1 + log2(largest),
        "best_fit": largest,
        "avl": largest,
        "binary_buddy": 2 * log2(largest),
        "half_fit": largest,
        "tlsf": largest,
    }
    known = {here: row for row, here in source(table.name.split("-")[0]).names.items()}
    figures: dict[Place, Found] = {}
    for allocator in budget.allocators(known, set(able(HEAP_BYTES)) & set(known)):
        study = measure(HeapStudy(allocator, _BOUNDED, budget.seeds, HEAP_BYTES, processes=budget.processes))
        shares = study["fragmentation_percent"].to_list()
        bound = 100 * (factors[allocator] - 1)
        figures[part.title, known[allocator], "by the formula"] = Found(bound, 1, 0.01)
        figures[part.title, known[allocator], "most of all seeds"] = Found(max(shares), len(shares), 0.01)
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
        (part.title, row, column): Found(edge, 1, 1) for column, edge in zip(part.columns, edges, strict=True)
    }
    return Remade({"here": figures}, "the slide's formula")
