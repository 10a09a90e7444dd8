"""What a run of the scenario `sizes` says of each size: fresh, behind fragments, and the ratio."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from dashboards.loaded.runs import LoadedRun
from scenarios.generators.sizes import FRAGMENTED, FRESH


@dataclass(frozen=True)
class OfSize:
    """DWT cycles of the measured allocations of one size, in both states of the heap."""

    size: int
    fresh_median: float
    fresh_max: int
    fragmented_median: float
    fragmented_max: int

    @property
    def ratios(self) -> tuple[float, float]:
        """Fragmented by fresh: of the medians, and of the maxima."""
        return self.fragmented_median / self.fresh_median, self.fragmented_max / self.fresh_max


def by_size(run: LoadedRun) -> list[OfSize]:
    """In ascending order. Empty where the run has not both states: it is of another scenario."""
    states = run.measured_allocations.filter(pl.col("label").is_in([FRESH, FRAGMENTED]))
    cycles = pl.col("dwt_cycles")
    table = states.group_by("size", "label").agg(cycles.median().alias("median"), cycles.max().alias("max"))
    found = {(size, label): (median, most) for size, label, median, most in table.rows()}
    sizes = sorted({size for size, _ in found})
    return [
        OfSize(size, *found[size, FRESH], *found[size, FRAGMENTED])
        for size in sizes
        if (size, FRESH) in found and (size, FRAGMENTED) in found
    ]
