"""How each table is made again: a row for each that can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from analysis.reproduce import article, decks, thesis
from analysis.reproduce.published import PublishedTable
from analysis.reproduce.remade import Budget, Measure, Remade

Recipe: TypeAlias = Callable[[PublishedTable, Measure, Budget], Remade]

RECIPES: Mapping[str, Recipe] = {
    "article-8": article.search_under_stress,
    "article-9": article.cycles_under_stress,
    "article-9-probes": article.cycles_by_probes,
    "article-10": article.search_under_fragments,
    "article-10-cycles": article.cycles_under_fragments,
    "article-11": article.footprint,
    "thesis-1": thesis.traces,
    "thesis-6": thesis.average_operation,
    "thesis-12": thesis.fragmentation,
    "thesis-13": thesis.cost_metric,
    "thesis-b-time": thesis.performance,
    "thesis-b-heap": thesis.heaps,
    "deck1-bounds": decks.bounds,
    "deck2-ranges": decks.ranges,
}
