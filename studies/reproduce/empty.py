"""The fixed cost of the bench: its marks, lock and book-keeping around an allocator that does
nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl

from firmware.build import catalogue, outside
from studies.reproduce.board import BoardRun
from studies.reproduce.kept import Work
from studies.reproduce.placed import PlacedCycles, at_placements
from studies.reproduce.remade import Budget, Measure

_SOURCE = Path(__file__).parent / "empty_section.c"
_WINDOWS = ("operation_cycles", "critical_cycles", "instructions")


@dataclass(frozen=True)
class EmptySection:
    """The scenario to run on the allocator that does nothing, at so many placements of the code.

    `processes` share the work, and change nothing.
    """

    SOURCES: ClassVar[tuple[str, ...]] = (
        *PlacedCycles.SOURCES,
        *("studies/reproduce/empty.py", "studies/reproduce/empty_section.c"),
    )

    scenario: str
    art: bool = False
    optimization: str = "2"
    placements: int = 1
    processes: int = field(default=1, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.scenario} on an empty section, {self.placements} placements"

    def measure(self) -> pl.DataFrame:
        """A row for allocations and one for frees: `kind`, A or F, and the means of
        `operation_cycles`, `critical_cycles` and `instructions`, medians of those of the
        placements. Raises TailscopeError.
        """
        (name,) = outside.admit([str(_SOURCE)])
        try:
            run = BoardRun(name, self.scenario, self.art, optimization=self.optimization)
            runs = at_placements(_measured, run, self.placements, self.processes)
        finally:
            catalogue.OUTSIDE.pop(name, None)
        means = pl.concat(map(_means, runs))
        return means.group_by("kind", maintain_order=True).agg(pl.col(_WINDOWS).median())


def _measured(work: Work) -> pl.DataFrame:
    return work.measure()


def _means(run: pl.DataFrame) -> pl.DataFrame:
    known = run.filter(pl.col("kind").is_in(["A", "F"]))
    return known.group_by("kind", maintain_order=True).agg(pl.col(_WINDOWS).mean())


@dataclass(frozen=True)
class FixedCost:
    """Of one allocation and of one free, means."""

    allocation: float
    free: float

    @property
    def operation(self) -> float:
        """Half the sum of both."""
        return (self.allocation + self.free) / 2


NOTHING = FixedCost(0, 0)


def fixed_cost(
    measure: Measure, budget: Budget, scenario: str, window: str, art: bool = False, optimization: str = "2"
) -> FixedCost:
    """The fixed part of a scenario's figures, in the unit of the column `window`."""
    work = EmptySection(scenario, art, optimization, budget.placements(), budget.processes)
    means = measure(work)
    of = dict(means.select("kind", window).iter_rows())
    return FixedCost(of["A"], of["F"])
