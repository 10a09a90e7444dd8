"""What two runs differ in: operations, worst cases, distributions, and placements of their code."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import polars as pl

from analysis.compare.pairing import Run
from base.metrology.summaries import AT_LEAST, CONFIDENCE, Summary
from base.microseconds import digits, unit_read
from base.microseconds import signed as signed_time
from base.run_folder import placements
from base.run_folder.manifest import ANYWHERE
from base.run_folder.quantities import (
    CONTROL,
    CRITICAL,
    DWT_CYCLES,
    FREE_CRITICAL,
    FREE_DWT_CYCLES,
    LATENCY,
    PROBES,
    QUANTITIES,
    SECTION,
    TASK,
    Quantity,
)

COLUMNS: Mapping[str, tuple[str, Literal["", "cycles", "ns"]]] = {
    "probes": ("probes", ""),
    "instructions": ("instructions of the critical section", ""),
    "dwt_cycles": ("critical section by DWT", "cycles"),
    "dwt_operation_cycles": ("whole operation by DWT", "cycles"),
    "wire_critical_ns": ("critical section on the wire", "ns"),
    "wire_operation_ns": ("whole operation on the wire", "ns"),
}
"""The columns of operations.parquet that are compared: the words for each, and its unit."""


@dataclass(frozen=True)
class Moved:
    """One operation in both runs; `change` is B less A."""

    seq: int
    a: float
    b: float
    change: float


@dataclass(frozen=True)
class Changed:
    """How many operations changed in a column, and those that changed most.

    `increase` is None where no value grew, `decrease` where none fell. `total` is the sum of all
    changes.
    """

    column: str
    words: str
    unit: str
    changed: int
    increase: Moved | None
    decrease: Moved | None
    total: float


@dataclass(frozen=True)
class Operations:
    """`joined` operations are in both runs; `only_a` and `only_b` count the others.

    `changed` counts those of which any column differs beyond what the instruments allow, `first` is
    the number of the first of them. `other_outcome` are the numbers of those that came out
    otherwise. Of the changed ones, `met_otherwise` were met by more or fewer interrupts than in
    A: an interrupt lengthens what it meets.
    """

    joined: int
    only_a: int
    only_b: int
    changed: int
    first: int | None
    other_outcome: tuple[int, ...]
    met_otherwise: int
    columns: tuple[Changed, ...]


def join(a: Run, b: Run) -> pl.DataFrame:
    """The operations of both by number: the columns of each, ending in `_of_a` and `_of_b`."""
    ours, theirs = (
        run.operations.select("seq", pl.exclude("seq").name.suffix(side))
        for run, side in ((a, "_of_a"), (b, "_of_b"))
    )
    return ours.join(theirs, on="seq", how="inner").sort("seq")


def met_otherwise() -> pl.Expr:
    """True in a row of join() if more or fewer interrupts met the operation in B than in A."""
    return pl.any_horizontal(
        pl.col(f"{name}_of_a") != pl.col(f"{name}_of_b") for name in ("isr_hits", "control_hits")
    )


def compare_operations(a: Run, b: Run, allowed: Mapping[str, float]) -> Operations:
    """Compares the operations of both, which must be the same.

    `allowed` has the differences that the instruments allow, by column, in its unit; 0 where it has
    none. A column that is null on one side is not compared there.
    """
    joined = join(a, b)
    marked = joined.with_columns(
        **{
            f"change_{name}": pl.col(f"{name}_of_b").cast(pl.Float64) - pl.col(f"{name}_of_a")
            for name in COLUMNS
        },
        outcome_differs=pl.col("kind_of_a") != pl.col("kind_of_b"),
        met_otherwise=met_otherwise(),
    )
    differs = {
        name: (pl.col(f"change_{name}").abs() > allowed.get(name, 0.0)).fill_null(False) for name in COLUMNS
    }
    marked = marked.with_columns(any_differs=pl.any_horizontal("outcome_differs", *differs.values()))
    changed = marked.filter("any_differs")
    return Operations(
        joined=joined.height,
        only_a=a.operations.height - joined.height,
        only_b=b.operations.height - joined.height,
        changed=changed.height,
        first=None if changed.is_empty() else int(changed["seq"][0]),
        other_outcome=tuple(marked.filter("outcome_differs")["seq"]),
        met_otherwise=int(changed["met_otherwise"].sum()),
        columns=tuple(
            _changed(name, marked.filter(differs[name]))
            for name in COLUMNS
            if marked[f"change_{name}"].count()
        ),
    )


def _changed(name: str, rows: pl.DataFrame) -> Changed:
    """The rows, in the order of their numbers, are those that differ in the column."""
    moves = [Moved(*row) for row in rows.select("seq", pl.col(f"^({name}_of_[ab]|change_{name})$")).rows()]
    increase = max((move for move in moves if move.change > 0), key=lambda move: move.change, default=None)
    decrease = min((move for move in moves if move.change < 0), key=lambda move: move.change, default=None)
    total = float(rows[f"change_{name}"].sum())
    return Changed(name, *COLUMNS[name], rows.height, increase, decrease, total)


@dataclass(frozen=True)
class Distribution:
    """`shift` is the Hodges-Lehmann estimate of B less A. It is None where the runs are exact, so
    that nothing is to be estimated, and where one has fewer than two samples. Its interval is None
    too where `no_interval` says why it means nothing. `undecided` counts the samples of both that
    may not belong, if the medians may be alike because of them; else it is 0. `beyond` is whether
    the samples lie further apart than the error budgets and undecided ones allow.
    """

    quantity: Quantity
    a: Summary
    b: Summary
    budget: float | None
    shift: float | None
    shift_interval: tuple[float, float] | None
    no_interval: str
    undecided: int
    beyond: bool


def distributions(a: Run, b: Run, exact: bool) -> tuple[Distribution, ...]:
    """Each quantity that both runs have samples of."""
    return tuple(
        _distribution(a, b, quantity, exact)
        for quantity in QUANTITIES
        if len(a.samples(quantity)) and len(b.samples(quantity))
    )


def _distribution(a: Run, b: Run, quantity: Quantity, exact: bool) -> Distribution:
    from base.metrology.comparison import LEAST_SAMPLES, hodges_lehmann

    ours, theirs = (run.samples(quantity)[quantity.column].cast(pl.Float64).to_numpy() for run in (a, b))
    budget = 0.0 if exact else allowed(a, b, quantity)
    undecided = _undecided(a, b, quantity, budget or 0.0)
    shift, interval, refused, beyond = None, None, "", False
    if not exact and min(len(ours), len(theirs)) >= LEAST_SAMPLES:
        shift, interval = hodges_lehmann(theirs, ours)
        refused = a.manifest.intervals.refused or b.manifest.intervals.refused or ""
        low, high = (shift, shift) if refused else interval
        beyond = budget is not None and not undecided and (low > budget or high < -budget)
    return Distribution(
        quantity,
        a.summary(quantity),
        b.summary(quantity),
        budget,
        shift,
        None if refused else interval,
        refused,
        undecided,
        beyond,
    )


def _undecided(a: Run, b: Run, quantity: Quantity, budget: float) -> int:
    """The samples of both that may not belong; 0 where the medians differ whatever they are."""
    count, medians = 0, []
    for run in (a, b):
        reach = quantity.reach(run.operations, run.interrupts)
        count += reach.count if reach else 0
        median = run.summary(quantity).median
        ends = reach.median if reach else None if median is None else (median, median)
        medians.append(ends or ANYWHERE)
    ours, theirs = medians
    return 0 if theirs[0] - ours[1] > budget or ours[0] - theirs[1] > budget else count


WORST_CASES = {
    SECTION: "longest masked section of any operation",
    CRITICAL: "worst critical section of an allocation",
    FREE_CRITICAL: "worst critical section of a free",
    LATENCY: "worst interrupt latency",
    TASK: "worst task latency",
    CONTROL: "worst control interrupt latency",
    DWT_CYCLES: "worst critical section of an allocation, by DWT",
    FREE_DWT_CYCLES: "worst critical section of a free, by DWT",
    PROBES: "most probes of an allocation",
}
"""Their maxima decide whether a run is worse than another; of each the words. None has undecided
samples: only the latencies that are split by what was hit have such.
"""

CHANCE = (1 - CONFIDENCE) / len(WORST_CASES)
"""Chance must be less likely than this to be ruled out: all of them are looked at, and each may err
(Bonferroni).
"""

_ROUNDING = 1e-12
"""Times in ns are samples by a samplerate: two that are equal may differ in the last places."""


Finding = Literal["equal", "better", "worse", "within the budgets", "chance", "not told"]


@dataclass(frozen=True)
class Extreme:
    """The greatest value of a quantity, and where it was: an operation, or None outside of all."""

    value: float
    seq: int | None
    kind: str | None
    at_least: str = ""
    """What stands before the value where it is read: `≥ ` where a wait was not over."""

    def __str__(self) -> str:
        refused = ", refused" if self.kind == "O" else ""
        return "between operations" if self.seq is None else f"operation {self.seq:,}{refused}"

    @classmethod
    def of(cls, run: Run, quantity: Quantity) -> Extreme | None:
        """The extreme of the run; None if it has no sample."""
        greatest = quantity.maximum(run.samples(quantity), run.operations)
        if greatest is None:
            return None
        at_least = AT_LEAST if greatest.get("open") else ""
        return cls(greatest["value"], greatest["seq"], greatest["kind"], at_least)


@dataclass(frozen=True)
class Worst:
    """One worst case of both.

    A change up to `budget` says nothing: both values are true to plus or minus their budgets, and
    this is the sum. It is 0 where runs are exact, None where nobody knows. `chance_p` is how likely
    chance alone makes as many samples of B greater than all of A's, None where it was not asked.
    """

    quantity: Quantity
    a: Extreme | None
    b: Extreme | None
    budget: float | None
    finding: Finding
    chance_p: float | None = None

    @property
    def words(self) -> str:
        return WORST_CASES[self.quantity]

    @property
    def change(self) -> float | None:
        """B less A, in the unit of the quantity."""
        return self.b.value - self.a.value if self.a and self.b else None

    @property
    def percent(self) -> float | None:
        """The change in hundredths of A's value; None where that is 0."""
        change = self.change
        return None if change is None or not self.a or not self.a.value else 100 * change / self.a.value

    @property
    def moved(self) -> bool:
        """True if another operation is the worst one."""
        return self.a is not None and self.b is not None and self.a.seq != self.b.seq


def worst_cases(a: Run, b: Run, exact: bool, joined: pl.DataFrame | None) -> tuple[Worst, ...]:
    """Each of WORST_CASES that one of the runs has samples of.

    `exact`: whether a value is what it is, to the cycle. `joined` are the operations of both, as
    join() joins them; None where they are not the same.
    """
    return tuple(
        worst for quantity in WORST_CASES if (worst := _worst(a, b, quantity, exact, joined)).a or worst.b
    )


def _worst(a: Run, b: Run, quantity: Quantity, exact: bool, joined: pl.DataFrame | None) -> Worst:
    ours, theirs = Extreme.of(a, quantity), Extreme.of(b, quantity)
    budget = 0.0 if exact else allowed(a, b, quantity)
    case = partial(Worst, quantity, ours, theirs, budget)
    if ours is None or theirs is None or budget is None or ours.at_least or theirs.at_least:
        return case("not told")
    if math.isclose(ours.value, theirs.value, rel_tol=_ROUNDING):
        return case("equal")
    change = theirs.value - ours.value
    if abs(change) <= budget:
        return case("within the budgets")
    finding: Finding = "worse" if change > 0 else "better"
    if quantity.counted or (exact and joined is None and quantity.table == "operations"):
        return case(finding)
    lower, upper = (a, b) if change > 0 else (b, a)
    from base.metrology.comparison import exceedance_p

    less, more = (
        run.samples(quantity)[quantity.column].cast(pl.Float64).to_numpy() for run in (lower, upper)
    )
    p = exceedance_p(less + budget, more)
    alike = _change_met_alike(a, b, quantity, joined)
    if p < CHANCE or (abs(alike) > budget and (alike > 0) == (change > 0)):
        return case(finding, p)
    return case("chance", p)


def allowed(a: Run, b: Run, quantity: Quantity) -> float | None:
    """The most by which two equal true values may differ in the runs, in the quantity's unit."""
    ours, theirs = a.budget(quantity), b.budget(quantity)
    return None if ours is None or theirs is None else ours + theirs


def _change_met_alike(a: Run, b: Run, quantity: Quantity, joined: pl.DataFrame | None) -> float:
    """B's maximum less A's over those operations alone that as many interrupts met in both; 0
    where there is none.
    """
    if joined is None or quantity.table != "operations":
        return 0.0
    alike = joined.filter(~met_otherwise()).select("seq")
    ours, theirs = (run.samples(quantity).select("seq", quantity.column) for run in (a, b))
    both = alike.join(ours, on="seq").join(theirs, on="seq", suffix="_of_b")
    if both.is_empty():
        return 0.0
    (of_a, of_b) = both.select(pl.exclude("seq").cast(pl.Float64).max()).row(0)
    return float(of_b - of_a)


_MINUS = "\N{MINUS SIGN}"


def short(value: float, unit: str) -> str:
    """A value of this unit, times in µs; others whole: a fraction says less than the budgets."""
    return digits(value) if unit == "ns" else f"{value:,.0f}".replace("-", _MINUS)


def spaced(unit: str) -> str:
    """The unit of what `short` gives, after a space; empty for none."""
    return f" {unit_read(unit)}" if unit else ""


def signed(value: float, unit: str) -> str:
    """A change with its sign."""
    if unit == "ns":
        return signed_time(value)
    text = f"{value:+,.0f}" if float(value).is_integer() or abs(value) >= 10 else f"{value:+,.1f}"
    return text.replace("-", _MINUS)


# The worst cases of two runs over the placements of their code, where both were placed.
#
# See docs/reference/placements.md.


@dataclass(frozen=True)
class Ranges:
    """One worst case of A and B. `smaller_than_placement`: the images as linked, or the ranges, are
    not alike, and placement alone can turn the difference round.
    """

    quantity: Quantity
    a: placements.Range
    b: placements.Range
    smaller_than_placement: bool

    def sentence(self) -> str:
        """What a reader must know where it is smaller."""
        of_a, of_b = (
            f"{short(ranges.least, self.quantity.unit)} to {short(ranges.greatest, self.quantity.unit)}"
            f"{spaced(self.quantity.unit)}"
            for ranges in (self.a, self.b)
        )
        return (
            f"{WORST_CASES[self.quantity]}: the difference is smaller than what placement does: {of_a} in A "
            f"({self.a.n} placements), {of_b} in B ({self.b.n})."
        )


def placed(a: Run, b: Run, equal: Collection[Quantity]) -> tuple[Ranges, ...]:
    """The worst cases of which there are ranges in both, by quantity; `equal` are alike in both.
    Raises RunError.
    """
    of_a, of_b = (placements.read(run.folder) for run in (a, b))
    if not of_a or not of_b:
        return ()
    pairs = (
        (quantity, of_a.headlines[quantity.key], of_b.headlines[quantity.key])
        for quantity in WORST_CASES
        if quantity.key in of_a.headlines and quantity.key in of_b.headlines
    )
    return tuple(
        Ranges(quantity, ours, theirs, quantity not in equal and ours.meets(theirs))
        for quantity, ours, theirs in pairs
    )
