"""How sure a run is of its numbers: error budget, intervals and baselines, each in its unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from base.run_folder.manifest import ErrorBudget, Manifest, Term
from base.run_folder.quantities import QUANTITIES
from dashboards.caveats import APART, BY_BOTH

# Below this p, the test of independence says that the samples are not.
DEPENDENCE_P = 0.05

# A pulse lasts whole cycles: less than half of one is the analyzer's reading.
SEEN_CYCLES = 0.5

Interval = tuple[float, float]


@dataclass(frozen=True)
class Certainty:
    """The certainty of a run, by key of the quantity. What run.json does not say is absent.

    `budgets`: a value is true to plus or minus this. `overheads`: the part of it that is the
    bench's own. `intervals`: of each percentile, at `confidence`; `refused` says why there are
    none. `dependent`: quantities whose samples are not independent, so that their intervals are
    too narrow. `baselines`: what a quantity shows with nothing to measure.
    """

    budgets: Mapping[str, float]
    overheads: Mapping[str, float]
    intervals: Mapping[str, Mapping[str, Interval]]
    baselines: Mapping[str, float]
    confidence: float
    refused: str | None
    dependent: frozenset[str]


def certainty_of(manifest: Manifest) -> Certainty:
    """The certainty that run.json states."""
    intervals = manifest.intervals
    return Certainty(
        budgets=_terms(manifest.error_budget, "total"),
        overheads=_terms(manifest.error_budget, "overhead"),
        intervals={key: intervals.known for key, intervals in intervals.of.items()},
        baselines={
            key: baseline.value for key, baseline in manifest.baselines.items() if baseline is not None
        },
        confidence=intervals.confidence,
        refused=intervals.refused,
        dependent=frozenset(
            key
            for key, intervals in intervals.of.items()
            if intervals.independence_p is not None and intervals.independence_p < DEPENDENCE_P
        ),
    )


def budgets_ns(certainty: Certainty) -> dict[str, float]:
    """The budgets of times that the wire tells, by key of the quantity."""
    return {key: value for key, value in certainty.budgets.items() if key.endswith("_ns")}


def by_both(row: Mapping[str, Any], manifest: Manifest) -> str:
    """What DWT and wire say of the critical section of an operation, and why they differ.

    `row` is one of operations.parquet. Empty where one of them does not tell.
    """
    samples, dwt, apart = row["wire_critical_samples"], row["dwt_cycles"], row["disagreement_cycles"]
    per_cycle = manifest.clock.samples_per_cycle_nominal
    if None in (samples, dwt, apart):
        return ""
    wire = samples / (per_cycle * (manifest.clock.ratio or 1.0))
    words = BY_BOTH.format(dwt=dwt, wire=round(wire), marks=round(wire - dwt - apart))
    return words + (APART.format(apart=round(apart, 1)) if abs(apart) >= SEEN_CYCLES else "")


def confidence_words(certainties: Iterable[Certainty]) -> str:
    """`95 %`, the confidence of the intervals; runs that differ in it are listed."""
    return " or ".join(
        f"{100 * confidence:g} %" for confidence in sorted({c.confidence for c in certainties})
    )


def _terms(budgets: Mapping[str, ErrorBudget], name: str) -> dict[str, float]:
    """One term of each quantity's budget, in the quantity's unit."""
    terms: dict[str, float] = {}
    for quantity in QUANTITIES:
        budget = budgets.get(quantity.key)
        term: Term | None = getattr(budget, name) if budget else None
        value = None if term is None else term.of(quantity.unit)
        if value is not None:
            terms[quantity.key] = value
    return terms
