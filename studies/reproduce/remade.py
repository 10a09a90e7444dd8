"""The figures made here for a table, by variant, part, row and column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_low
from typing import TypeAlias, TypeVar

import polars as pl

from studies.reproduce.kept import Work

Value = TypeVar("Value", int, str)

Settings: TypeAlias = tuple[tuple[str, int], ...]
"""Names and numbers, sorted by name."""

Parameters: TypeAlias = tuple[tuple[str, int | str], ...]
"""Names and values of a scenario, sorted by name."""


def settings(**values: Value) -> tuple[tuple[str, Value], ...]:
    """Names and values."""
    return tuple(sorted(values.items()))


def words(chosen: Parameters) -> str:
    """`, NAME=VALUE` for each."""
    return "".join(f", {name}={value}" for name, value in chosen)


@dataclass(frozen=True)
class MadeFigure:
    """A figure that was made here, in the unit of its column.

    `value` is one that occurred, or a mean; of several seeds or placements the median that
    occurred, between `least` and `most`. `n` samples stand behind it, each of them told to within
    `resolution`. Cycles are of as many `placements` of the code; 0: it does not matter where the
    code lies.
    """

    value: float
    n: int
    resolution: float
    least: float | None = None
    most: float | None = None
    samples: tuple[float, ...] = ()
    """Of each seed, in their order."""
    placements: int = 0

    @property
    def constant(self) -> bool:
        """True if every seed, or placement, gave it."""
        return self.least is not None and self.least == self.most


Place: TypeAlias = tuple[str, str, str]
"""Part, row and column. The row is the publication's word, or an allocator here that it lacks."""

Figures: TypeAlias = Mapping[Place, MadeFigure]


@dataclass(frozen=True)
class Remade:
    """A table made again. `variants` are the ways in which it was, such as a whole call and its
    critical section; the first is what compares best. `made_from` says what was run: scenario,
    seeds, board. `notes` are sentences on what came out. `judged` are the variants that a
    conclusion must agree in, for the publication does not say which it is; none: the first.
    `witnesses` are figures, by name, that show the cause of what came out.
    """

    variants: Mapping[str, Figures]
    made_from: str
    notes: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    witnesses: Mapping[str, MadeFigure] = field(default_factory=dict)


_PLACEMENTS = 16
"""Heap and rest at each pair of their places in a line of the flash once."""


@dataclass(frozen=True)
class Budget:
    """The amount to run: 32 seeds of the allocators that a table has, and 8 of every other; cycles
    at 16 placements of the code of the former, and at 1 of the latter.

    `quick` runs only those that a table has, with 4 seeds, at 1 placement.
    """

    quick: bool = False
    processes: int = field(default=1, compare=False)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds for the allocators that a table has."""
        return tuple(range(1, 5 if self.quick else 33))

    @property
    def further_seeds(self) -> tuple[int, ...]:
        """The seeds for all other allocators: the first of the same."""
        return self.seeds[:8]

    def placements(self, published: bool = True) -> int:
        """Of an allocator's code; `published`: the table has the allocator."""
        return _PLACEMENTS if published and not self.quick else 1

    def allocators(self, published: Iterable[str], able: Iterable[str]) -> tuple[str, ...]:
        """The allocators to run: the table's first, then every other that is able to."""
        have = [name for name in dict.fromkeys(published) if name in set(able)]
        others = () if self.quick else sorted(set(able) - set(have))
        return (*have, *others)


Measure: TypeAlias = Callable[[Work], pl.DataFrame]


def over_seeds(values: Iterable[float | None], resolution: float) -> MadeFigure | None:
    """The median that occurred, and the range. None where a seed lacks the figure."""
    found = list(values)
    present = [value for value in found if value is not None]
    if not present or len(present) < len(found):
        return None
    edges = min(present), max(present)
    return MadeFigure(median_low(present), len(present), resolution, *edges, samples=tuple(present))


def over_placements(figures: Sequence[MadeFigure]) -> MadeFigure:
    """A figure of cycles at each placement: the median that occurred, and the range of several."""
    first, *others = figures
    if not others:
        return replace(first, placements=1)
    values = [one.value for one in figures]
    return replace(
        first, value=median_low(values), least=min(values), most=max(values), placements=len(values)
    )


def present(figures: Mapping[Place, MadeFigure | None]) -> Figures:
    """The figures that are not None."""
    return {place: found for place, found in figures.items() if found is not None}
