"""Residuals in figures: a row for each quantity and each kind of operation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.twin.residuals import QUANTITIES, Quantity, beyond
from base.metrology.quantiles import Summary, summarise
from base.run_folder.edges import NS_PER_S

MOST_WORST = 10


@dataclass(frozen=True)
class Units:
    """Turns cycles of the core into time and into samples of the board's wire."""

    core_hz: int
    samplerate_hz: int

    def ns(self, cycles: float) -> float:
        return cycles * NS_PER_S / self.core_hz

    def samples(self, cycles: float) -> float:
        return cycles * self.samplerate_hz / self.core_hz


@dataclass(frozen=True)
class Row:
    """The residuals of a quantity for one kind of operation, None for all, in cycles.

    `beyond` counts those that are beyond their budgets, of which the largest is `budget_cycles`.
    `worst` are the greatest by size: number of the operation (None outside of all) and residual.
    """

    quantity: Quantity
    kind: str | None
    cycles: Summary
    beyond: int
    budget_cycles: float
    worst: tuple[tuple[int | None, float], ...]

    @property
    def share_beyond(self) -> float:
        return self.beyond / self.cycles.n

    def as_json(self, units: Units) -> dict[str, Any]:
        """As docs/reference/twin.md has it."""
        told = {name: getattr(self.cycles, name) for name in ("min", "median", "mean", "p99", "max")}
        return {
            "quantity": self.quantity.key,
            "kind": self.kind,
            "n": self.cycles.n,
            "cycles": told,
            "ns": {name: None if value is None else units.ns(value) for name, value in told.items()},
            "budget_cycles": self.budget_cycles,
            "budget_ns": units.ns(self.budget_cycles),
            "beyond": self.beyond,
            "share_beyond": self.share_beyond,
            "worst": [
                {
                    "seq": seq,
                    "cycles": cycles,
                    "ns": units.ns(cycles),
                    "samples": units.samples(cycles) if self.quantity.wire else None,
                }
                for seq, cycles in self.worst
            ],
        }


def rows(found: pl.DataFrame) -> list[Row]:
    """Of each quantity a row of all, then one of each kind, where there are several."""
    return [row for quantity in QUANTITIES for row in _of(quantity, found)]


def _of(quantity: Quantity, found: pl.DataFrame) -> Iterator[Row]:
    every = found.filter(pl.col("quantity") == quantity.key)
    if every.is_empty():
        return
    yield _row(quantity, None, every)
    kinds = sorted(every["kind"].drop_nulls().unique())
    for kind in kinds:
        yield _row(quantity, kind, every.filter(pl.col("kind") == kind))


def _row(quantity: Quantity, kind: str | None, of: pl.DataFrame) -> Row:
    worst = of.sort(pl.col("residual").abs(), descending=True, maintain_order=True).head(MOST_WORST)
    return Row(
        quantity=quantity,
        kind=kind,
        cycles=summarise(of["residual"].to_numpy()),
        beyond=beyond(of).height,
        budget_cycles=float(of.select(pl.col("budget").max()).item()),
        worst=tuple((seq, value) for seq, value in worst.select("seq", "residual").rows() if value),
    )
