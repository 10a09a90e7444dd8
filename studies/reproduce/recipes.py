"""How each table is made again: a row for each that can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from studies.reproduce import article, crate, decks, thesis
from studies.reproduce.published import PublishedTable
from studies.reproduce.remade import Budget, Measure, Remade

Recipe: TypeAlias = Callable[[PublishedTable, Measure, Budget], Remade]

RECIPES: Mapping[str, Recipe] = {
    "article-intro": article.by_size,
    "article-8": article.search_under_stress,
    "article-9": article.cycles_under_stress,
    "article-9-probes": article.cycles_by_probes,
    "article-10": article.search_under_fragments,
    "article-10-cycles": article.cycles_under_fragments,
    "article-11": article.footprint,
    "crate-fll": crate.levels,
    "crate-text": crate.text,
    "crate-memalign": crate.memalign,
    "crate-malloc": crate.malloc,
    "thesis-1": thesis.traces,
    "thesis-6": thesis.average_operation,
    "thesis-7": thesis.worst,
    "thesis-12": thesis.fragmentation,
    "thesis-13": thesis.cost_metric,
    "thesis-b-time": thesis.performance,
    "thesis-b-heap": thesis.heaps,
    "deck1-alloc": decks.worst_allocation,
    "deck1-free": decks.worst_free,
    "deck1-bounds": decks.bounds,
    "deck1-fragmentation": decks.fragmentation_of_sets,
    "deck2-ranges": decks.ranges,
    "deck2-worst": decks.own_worst,
    "deck2-cycles": decks.cycles,
    "deck2-instructions": decks.instructions,
    "deck2-fragmentation": decks.fragmentation_of_tests,
}
