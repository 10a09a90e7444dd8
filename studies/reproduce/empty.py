"""The fixed cost of the bench: its marks, lock and book-keeping around an allocator that does
nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from firmware.build import catalogue, outside
from studies.reproduce.board import BoardRun
from studies.reproduce.remade import Measure

_SOURCE = Path(__file__).parent / "empty_section.c"
_WINDOWS = ("operation_cycles", "critical_cycles", "instructions")


@dataclass(frozen=True)
class EmptySection:
    """The scenario to run on the allocator that does nothing."""

    SOURCES: ClassVar[tuple[str, ...]] = (
        *BoardRun.SOURCES,
        *("studies/reproduce/empty.py", "studies/reproduce/empty_section.c"),
    )

    scenario: str
    art: bool = False
    optimization: str = "2"

    def __str__(self) -> str:
        return f"{self.scenario} on an empty section"

    def measure(self) -> pl.DataFrame:
        """A row for allocations and one for frees: `kind`, A or F, and the means of
        `operation_cycles`, `critical_cycles` and `instructions`. Raises TailscopeError.
        """
        (name,) = outside.admit([str(_SOURCE)])
        try:
            run = BoardRun(name, self.scenario, self.art, optimization=self.optimization).measure()
        finally:
            catalogue.OUTSIDE.pop(name, None)
        means = [pl.col(window).mean() for window in _WINDOWS]
        return run.filter(pl.col("kind").is_in(["A", "F"])).group_by("kind", maintain_order=True).agg(means)


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
    measure: Measure, scenario: str, window: str, art: bool = False, optimization: str = "2"
) -> FixedCost:
    """The fixed part of a scenario's figures, in the unit of the column `window`."""
    means = measure(EmptySection(scenario, art, optimization))
    of = dict(means.select("kind", window).iter_rows())
    return FixedCost(of["A"], of["F"])
