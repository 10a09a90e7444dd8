"""How each table is made again, one after the other: a row for each that can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from studies.reproduce import article, crate, decks, published, thesis
from studies.reproduce.beside import Beside, beside
from studies.reproduce.contradictions import contradictions
from studies.reproduce.kept import Kept
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
    "thesis-6": thesis.average_operation,
    "thesis-7": thesis.worst,
    "thesis-12": thesis.fragmentation,
    "thesis-13": thesis.cost_metric,
    "thesis-b-time": thesis.performance,
    "thesis-b-heap": thesis.heaps,
    "thesis-14": thesis.suitability,
    "deck1-alloc": decks.worst_allocation,
    "deck1-free": decks.worst_free,
    "deck1-bounds": decks.bounds,
    "deck1-fragmentation": decks.fragmentation_of_sets,
    "deck1-summary": decks.summary,
    "deck2-ranges": decks.ranges,
    "deck2-worst": decks.own_worst,
    "deck2-cycles": decks.cycles,
    "deck2-instructions": decks.instructions,
    "deck2-fragmentation": decks.fragmentation_of_tests,
}


def chosen(words: Sequence[str]) -> tuple[str, ...]:
    """The tables that are named, each once; all without a name. Raises UnknownTableError."""
    for word in words:
        published.find(word)
    return tuple(name for name in published.names() if not words or name in words)


def run(names: Sequence[str], budget: Budget, keep: Kept) -> Iterator[Beside]:
    """Each table as it is done. `keep` measures, or has what was measured.

    Raises TailscopeError, and Stopped where a signal asks for the end.
    """
    for name in names:
        source, table = published.find(name)
        recipe = RECIPES.get(name)
        remade = recipe(table, keep, budget) if recipe else None
        yield beside(source, table, tuple(contradictions(source)), remade)
