"""A run's samples of each quantity, its allocations by probes and by size, and its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from base.run_folder.quantities import (
    CLEAR,
    CONTROL,
    CRITICAL,
    DWT_CYCLES,
    FREE_CRITICAL,
    FREE_DWT_CYCLES,
    FREE_INSTRUCTIONS,
    HIT,
    INSTRUCTIONS,
    LATENCY,
    PROBES,
    QUANTITIES,
    REFUSED,
    SECTION,
    SERVED,
    TASK,
    UNINTERRUPTED,
    Quantity,
)
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series
from scenarios.generators.sizes import FRAGMENTED, FRESH

ALL = QUANTITIES
_OF_REQUESTS = (PROBES, INSTRUCTIONS, DWT_CYCLES, CRITICAL)
_OF_FREES = (FREE_INSTRUCTIONS, FREE_DWT_CYCLES, FREE_CRITICAL)
_OF_OPERATIONS = (SECTION, UNINTERRUPTED, *_OF_REQUESTS, *SERVED, *REFUSED, *_OF_FREES)
REPORTED = (*_OF_OPERATIONS, HIT, CLEAR, TASK, CONTROL)
PRINTED = (*_OF_OPERATIONS, LATENCY, TASK, CONTROL)


def shown(quantities: Sequence[Quantity], runs: Sequence[LoadedRun]) -> tuple[Quantity, ...]:
    """The quantities that `runs` have values of.

    Not every scenario measures its frees, and not every board counts instructions. Where no request
    was refused, those that were served are all there are, and have no rows of their own.
    """
    had = {quantity.key for quantity in ALL if any(run.summary(quantity).n for run in runs)}
    may_lack = {quantity.key for quantity in (INSTRUCTIONS, *SERVED, *REFUSED, *_OF_FREES)}
    left_out = may_lack - had
    if all(quantity.key in left_out for quantity in REFUSED):
        left_out |= {quantity.key for quantity in SERVED}
    return tuple(quantity for quantity in quantities if quantity.key not in left_out)


def samples(run: LoadedRun, quantity: Quantity) -> pl.DataFrame:
    """The rows of operations or interrupts that `quantity` summarises, without missing values.

    They have its column, those that select them, and which are of waits that were not over.
    """
    selecting = pl.sql_expr(quantity.rows).meta.root_names()
    table = run.once(quantity.table, quantity.column, *selecting, "isr_open", "task_open")
    return quantity.samples(table, table)


def counted(series: Sequence[Series]) -> list[pl.DataFrame] | None:
    """The measured allocations of each run whose probes were counted.

    None where none were, and for a ramp, whose own figure says it better.
    """
    tables = [member.run.measured_allocations.drop_nulls("probes") for member in series]
    ramp = any(table["depth"].is_not_null().any() for table in tables)
    return None if ramp or not any(len(table) for table in tables) else tables


def means(run: LoadedRun) -> pl.DataFrame:
    """The mean cycles of the served allocations, a row for each number of probes, in order.

    Columns: `probes`; `n`, how many there are; `critical` and `operation`, means of `dwt_cycles`
    and `dwt_operation_cycles`.
    """
    served = run.measured_allocations.filter(pl.col("kind") == "A").drop_nulls("probes").group_by("probes")
    table = served.agg(n=pl.len(), critical=pl.mean("dwt_cycles"), operation=pl.mean("dwt_operation_cycles"))
    return table.sort("probes")


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
    """The sizes in ascending order. Empty if the run lacks a state: it is of another scenario."""
    states = run.measured_allocations.filter(pl.col("label").is_in([FRESH, FRAGMENTED]))
    cycles = pl.col("dwt_cycles")
    table = states.group_by("size", "label").agg(cycles.median().alias("median"), cycles.max().alias("max"))
    medians = {(size, label): (median, most) for size, label, median, most in table.rows()}
    return [
        OfSize(size, *medians[size, FRESH], *medians[size, FRAGMENTED])
        for size in sorted({size for size, _ in medians})
        if {(size, FRESH), (size, FRAGMENTED)} <= medians.keys()
    ]


SECTIONS = {"allocate": "allocation", "free": "free"}


@dataclass(frozen=True)
class KnownBound:
    """The most that a section can take without interrupts.

    `ratio` is the bound divided by the longest section observed. `region_decided` is True where
    the bound grows with the heap's region.
    """

    cycles: float
    ns: float
    ratio: float | None
    region_decided: bool


def bound_of(run: LoadedRun, section: str) -> KnownBound | None:
    """The bound of `section` (a key of SECTIONS). None where the run tells none."""
    bound = run.manifest.bounds.get(section)
    if bound is None or bound.cycles is None or bound.ns is None:
        return None
    return KnownBound(bound.cycles, bound.ns, bound.ratio, bound.region_decided)


def bounds_sentence(run: LoadedRun) -> str:
    """`Static bound (no interrupts): allocation ≤ 1,021 cycles, 2.3 × the worst undisturbed; …`.

    Empty where the run tells no bound.
    """
    listed = []
    for section, words in SECTIONS.items():
        if bound := bound_of(run, section):
            grows = ", grows with heap size" if bound.region_decided else ""
            times = "" if bound.ratio is None else f", {bound.ratio:.1f} × the worst undisturbed"
            listed.append(f"{words} ≤ {bound.cycles:,.0f} cycles{grows}{times}")
    return f"Static bound (no interrupts): {'; '.join(listed)}" if listed else ""
