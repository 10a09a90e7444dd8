"""How sure a run is of its numbers: budget, intervals and baselines of run.json (docs/SPEC.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dashboards.fields import Fields

PERCENTILES = ("median", "p90", "p99", "p99_9", "p99_99")

Interval = tuple[float, float]

# Below this the test of independence speaks against it.
DEPENDENCE_P = 0.05


@dataclass(frozen=True)
class Certainty:
    """Each by the key of its statistic, in that statistic's unit. What a run does not say is absent.

    `budgets`: a value is true to plus or minus this. `overheads`: how much of it is the bench's own.
    `intervals`: of each percentile, at `confidence`; `refused` is the sentence why there are none; they are
    too narrow for the `dependent` statistics, whose samples hang together. `baselines`: what the quantity
    shows with nothing to measure.
    """

    budgets: Mapping[str, float] = field(default_factory=dict)
    overheads: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    refused: str | None = None
    dependent: frozenset[str] = frozenset()


def read_certainty(fields: Fields, keys: Sequence[str]) -> Certainty:
    """Budget, intervals and baselines; a run that was recorded before they were is without."""
    budget, baselines = fields.section_if_there("error_budget"), fields.section_if_there("baselines")
    intervals = fields.section_if_there("intervals")
    return Certainty(
        budgets=_terms(budget, keys, "total"),
        overheads=_terms(budget, keys, "overhead"),
        intervals=_intervals(intervals, keys),
        baselines={
            key: value
            for key in keys
            if baselines and (found := baselines.section_if_there(key))
            if (value := found.optional_number("value")) is not None
        },
        confidence=intervals.optional_number("confidence") if intervals else None,
        refused=intervals.optional_text("refused") if intervals else None,
        dependent=_dependent(intervals, keys),
    )


def _terms(budget: Fields | None, keys: Sequence[str], term: str) -> dict[str, float]:
    """One term of each quantity's budget, in the quantity's unit."""
    found: dict[str, float] = {}
    for key in keys if budget else ():
        of_quantity = budget.section_if_there(key) if budget else None
        of_term = of_quantity.section_if_there(term) if of_quantity else None
        value = of_term.optional_number("cycles" if key.endswith("cycles") else "ns") if of_term else None
        if value is not None:
            found[key] = value
    return found


def _intervals(intervals: Fields | None, keys: Sequence[str]) -> dict[str, dict[str, Interval]]:
    by_quantity = intervals.section_if_there("of") if intervals else None
    found = {}
    for key in keys if by_quantity else ():
        of_quantity = by_quantity.section_if_there(key) if by_quantity else None
        if of_quantity:
            ends = {name: of_quantity.ends(name) for name in PERCENTILES}
            found[key] = {name: interval for name, interval in ends.items() if interval is not None}
    return found


def _dependent(intervals: Fields | None, keys: Sequence[str]) -> frozenset[str]:
    by_quantity = intervals.section_if_there("of") if intervals else None
    told = {key: by_quantity.section_if_there(key) for key in keys} if by_quantity else {}
    p = {key: of.number_if_there("independence_p") for key, of in told.items() if of}
    return frozenset(key for key, value in p.items() if value is not None and value < DEPENDENCE_P)
