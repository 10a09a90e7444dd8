"""How sure a run is of its numbers: budget, intervals and baselines of run.json, each in its unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from capture.run_folder.manifest import ErrorBudget, Manifest, Term
from capture.run_folder.quantities import QUANTITIES

# Below this the test of independence speaks against it.
DEPENDENCE_P = 0.05

Interval = tuple[float, float]


@dataclass(frozen=True)
class Certainty:
    """Each by the key of its quantity. What a run does not say is absent.

    `budgets`: a value is true to plus or minus this. `overheads`: how much of it is the bench's own.
    `intervals`: of each percentile, at `confidence`; `refused` is the sentence why there are none; they are
    too narrow for the `dependent` statistics, whose samples hang together. `baselines`: what the quantity
    shows with nothing to measure.
    """

    budgets: Mapping[str, float]
    overheads: Mapping[str, float]
    intervals: Mapping[str, Mapping[str, Interval]]
    baselines: Mapping[str, float]
    confidence: float
    refused: str | None
    dependent: frozenset[str]


def certainty_of(manifest: Manifest) -> Certainty:
    """What run.json says of it."""
    intervals = manifest.intervals
    return Certainty(
        budgets=_terms(manifest.error_budget, "total"),
        overheads=_terms(manifest.error_budget, "overhead"),
        intervals={key: found.known for key, found in intervals.of.items()},
        baselines={key: found.value for key, found in manifest.baselines.items() if found is not None},
        confidence=intervals.confidence,
        refused=intervals.refused,
        dependent=frozenset(
            key
            for key, found in intervals.of.items()
            if found.independence_p is not None and found.independence_p < DEPENDENCE_P
        ),
    )


def _terms(budgets: Mapping[str, ErrorBudget], name: str) -> dict[str, float]:
    """One term of each quantity's budget, in the quantity's unit."""
    found: dict[str, float] = {}
    for quantity in QUANTITIES:
        budget = budgets.get(quantity.key)
        term: Term | None = getattr(budget, name) if budget else None
        value = None if term is None else term.cycles if quantity.unit == "cycles" else term.ns
        if value is not None:
            found[quantity.key] = value
    return found
