"""Makes tables again, one after the other, and puts each beside what is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from studies.reproduce import published
from studies.reproduce.beside import Beside, beside
from studies.reproduce.contradictions import contradictions
from studies.reproduce.kept import Kept
from studies.reproduce.recipes import RECIPES
from studies.reproduce.remade import Budget


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
