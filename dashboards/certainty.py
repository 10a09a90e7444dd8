"""How sure a run is of its numbers: error budget, intervals and baselines of run.json (docs/SPEC.md, section
5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Interval = tuple[float, float]


@dataclass(frozen=True)
class Certainty:
    """Each by the key of its statistic, in that statistic's unit. What a run does not say is absent.

    `budgets`: a value is true to plus or minus this. `overheads`: how much of it is the bench's own.
    `intervals`: of each percentile, at `confidence`; `refused` is the sentence why there are none.
    `baselines`: what the quantity shows with nothing to measure.
    """

    budgets: Mapping[str, float] = field(default_factory=dict)
    overheads: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    refused: str | None = None
