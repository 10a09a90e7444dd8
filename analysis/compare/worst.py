"""The worst cases of two runs, and their distributions, beside each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from analysis.compare.operations import met_otherwise
from analysis.compare.pairing import Run
from base.metrology.summaries import AT_LEAST, CONFIDENCE, Reach, Summary
from base.run_folder.figure_budget import ANYWHERE
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

if TYPE_CHECKING:
    import numpy as np

    from base.metrology.comparison import Comparison


@dataclass(frozen=True)
class Distribution:
    """`effect` has B less A: Cliff's delta and the Hodges-Lehmann shift. It is None where the runs
    are exact, so that nothing is to be estimated, and where one has fewer than two samples.
    `no_interval` says why its intervals mean nothing; empty where they do. `undecided` counts the
    samples of both that may not belong, if the medians may be alike because of them; else it is 0.
    """

    quantity: Quantity
    a: Summary
    b: Summary
    effect: Comparison | None
    no_interval: str
    budget: float | None
    undecided: int = 0

    @property
    def beyond(self) -> bool:
        """Whether the samples lie further apart than the error budgets and undecided ones allow."""
        return self._beyond_budget and not self.undecided

    @property
    def hidden(self) -> bool:
        """Whether nothing but undecided samples may explain how far the samples lie apart."""
        return self._beyond_budget and self.undecided > 0

    @property
    def _beyond_budget(self) -> bool:
        if self.effect is None or self.budget is None:
            return False
        if self.no_interval:
            return abs(self.effect.shift) > self.budget
        low, high = self.effect.shift_interval
        return low > self.budget or high < -self.budget


def distributions(a: Run, b: Run, exact: bool) -> tuple[Distribution, ...]:
    """Each quantity that both runs have samples of."""
    return tuple(
        _distribution(a, b, quantity, exact)
        for quantity in QUANTITIES
        if len(a.samples(quantity)) and len(b.samples(quantity))
    )


def _distribution(a: Run, b: Run, quantity: Quantity, exact: bool) -> Distribution:
    from base.metrology.comparison import LEAST_SAMPLES, compare

    ours, theirs = (run.samples(quantity)[quantity.column].to_numpy() for run in (a, b))
    estimated = not exact and min(len(ours), len(theirs)) >= LEAST_SAMPLES
    refused = next((reason for run in (a, b) if (reason := run.manifest.intervals.refused)), "")
    budget = 0.0 if exact else allowed(a, b, quantity)
    return Distribution(
        quantity=quantity,
        a=a.summary(quantity),
        b=b.summary(quantity),
        effect=compare(theirs, ours) if estimated else None,
        no_interval=refused if estimated else "",
        budget=budget,
        undecided=_undecided(a, b, quantity, budget or 0.0),
    )


def _undecided(a: Run, b: Run, quantity: Quantity, budget: float) -> int:
    """The samples of both that may not belong; 0 where the medians differ whatever they are."""
    reached = [run.reach(quantity) for run in (a, b)]
    count = sum(part.count for part in reached if part)
    ours, theirs = (_median_ends(run, quantity, reach) for run, reach in zip((a, b), reached, strict=True))
    apart = theirs[0] - ours[1] > budget or ours[0] - theirs[1] > budget
    return 0 if apart else count


def _median_ends(run: Run, quantity: Quantity, reach: Reach | None) -> tuple[float, float]:
    if reach is None:
        median = run.summary(quantity).median
        return ANYWHERE if median is None else (median, median)
    return ANYWHERE if reach.median is None else reach.median


WORST_CASES = (SECTION, CRITICAL, FREE_CRITICAL, LATENCY, TASK, CONTROL, DWT_CYCLES, FREE_DWT_CYCLES, PROBES)
"""Their maxima decide whether a run is worse than another. None has undecided samples: only the
latencies that are split by what was hit have such.
"""

_WORDS = {
    SECTION.key: "longest masked section of any operation",
    CRITICAL.key: "worst critical section of an allocation",
    FREE_CRITICAL.key: "worst critical section of a free",
    LATENCY.key: "worst interrupt latency",
    TASK.key: "worst task latency",
    CONTROL.key: "worst control interrupt latency",
    DWT_CYCLES.key: "worst critical section of an allocation, by DWT",
    FREE_DWT_CYCLES.key: "worst critical section of a free, by DWT",
    PROBES.key: "most probes of an allocation",
}

CHANCE = (1 - CONFIDENCE) / len(WORST_CASES)
"""Chance must be less likely than this to be ruled out: all of them are looked at, and each may err
(Bonferroni).
"""

_ROUNDING = 1e-12
"""Times in ns are samples by a samplerate: two that are equal may differ in the last places."""


def words_of(quantity: Quantity) -> str:
    """`worst interrupt latency`: of one of WORST_CASES."""
    return _WORDS[quantity.key]


Finding = Literal["equal", "better", "worse", "within the budgets", "chance", "not told"]


@dataclass(frozen=True)
class Extreme:
    """The greatest value of a quantity, and where it was: an operation, or None outside of all."""

    value: float
    seq: int | None
    kind: str | None
    size: int | None
    label: str | None
    times: int
    at_least: str = ""
    """What stands before the value where it is read: `≥ ` where a wait was not over."""

    @classmethod
    def of(cls, run: Run, quantity: Quantity) -> Extreme | None:
        """The extreme of the run; None if it has no sample."""
        greatest = run.greatest(quantity)
        if greatest is None:
            return None
        place: dict[str, Any] = {
            name: greatest[name] for name in ("value", "seq", "kind", "size", "label", "times")
        }
        return cls(**place, at_least=AT_LEAST if greatest.get("open") else "")


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
        return words_of(self.quantity)

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
    analysis/compare/operations.py joins them; None where they are not the same.
    """
    generator = (_worst(a, b, quantity, exact, joined) for quantity in WORST_CASES)
    return tuple(worst for worst in generator if worst.a or worst.b)


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

    p = exceedance_p(_values(lower, quantity) + budget, _values(upper, quantity))
    alike = _change_met_alike(a, b, quantity, joined)
    if p < CHANCE or (abs(alike) > budget and (alike > 0) == (change > 0)):
        return case(finding, p)
    return case("chance", p)


def allowed(a: Run, b: Run, quantity: Quantity) -> float | None:
    """The most by which two equal true values may differ in the runs, in the quantity's unit."""
    ours, theirs = a.budget(quantity), b.budget(quantity)
    return None if ours is None or theirs is None else ours + theirs


def _values(run: Run, quantity: Quantity) -> np.ndarray[Any, np.dtype[np.float64]]:
    return run.samples(quantity)[quantity.column].cast(pl.Float64).to_numpy()


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
