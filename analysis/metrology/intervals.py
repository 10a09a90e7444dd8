"""How far a percentile could have come out otherwise: bootstrap intervals, without drawing a single sample.

A percentile by nearest rank is an order statistic, and the bootstrap distribution of an order statistic is
known in closed form: of n values drawn with replacement, the r-th smallest is at most x_(k) when at least r
of them fall among the k smallest, which is a binomial probability (Efron, "Bootstrap methods: another look at
the jackknife", Annals of Statistics 7, 1979, section 2, for the median; Hutson and Ernst, "The exact
bootstrap mean and variance of an L-estimator", JRSS B 62, 2000). What resampling only approaches is computed,
and is the same in each run.

The greatest value has no such interval: the bootstrap fails for it (Bickel and Freedman, "Some asymptotic
theory for the bootstrap", Annals of Statistics 9, 1981, section 6). Values are taken to be drawn
independently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from analysis.metrology.quantiles import PERCENTILES, rank, samples_needed

CONFIDENCE = 0.95

Interval = tuple[float | int, float | int]


def percentile_intervals(values: npt.ArrayLike, confidence: float = CONFIDENCE) -> dict[str, Interval | None]:
    """The interval of each percentile of `quantiles`; None where `values` are too few for it."""
    ordered = np.sort(np.asarray(values))
    return {
        name: percentile_interval(ordered, share, confidence)
        if len(ordered) >= samples_needed(share)
        else None
        for name, share in PERCENTILES.items()
    }


def percentile_interval(
    ordered: npt.NDArray[Any], per_myriad: int, confidence: float = CONFIDENCE
) -> Interval:
    """The exact bootstrap percentile interval of a percentile, both ends values that occurred."""
    n = len(ordered)
    tail = (1 - confidence) / 2
    at_most = binom.sf(rank(n, per_myriad) - 1, n, np.arange(1, n + 1) / n)
    low, high = np.searchsorted(at_most, [tail, 1 - tail])
    return ordered[low].item(), ordered[min(int(high), n - 1)].item()
