"""How far off a percentile may be: bootstrap intervals, computed without drawing a sample.

A percentile by nearest rank is an order statistic, and the bootstrap distribution of an order
statistic is known in closed form. Draw n values with replacement. The r-th smallest of them is at
most x_(k) when at least r of them fall among the k smallest, and that probability is binomial. So
what resampling only approaches is computed here, and is the same each time. Sources: Efron,
"Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979, section 2, for the
median; Hutson and Ernst, "The exact bootstrap mean and variance of an L-estimator", JRSS B 62,
2000.

The values must be independent draws. The greatest value has no such interval: the bootstrap fails
for it (Bickel and Freedman, "Some asymptotic theory for the bootstrap", Annals of Statistics 9,
1981, section 6).
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .ranks import PERCENTILES, rank, samples_needed
from .summaries import CONFIDENCE

_KEPT = 1024

Interval = tuple[float | int, float | int]


def percentile_intervals(values: npt.ArrayLike, confidence: float = CONFIDENCE) -> dict[str, Interval | None]:
    """The interval of each of PERCENTILES for `values`, one-dimensional and in any order.

    None where the values are too few for the percentile.
    """
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
    """The exact bootstrap interval of the percentile `per_myriad`, in ten-thousandths.

    `ordered` are the sorted values, one or more. Both ends are values that occurred.
    """
    low, high = _ends(len(ordered), per_myriad, confidence)
    return ordered[low].item(), ordered[high].item()


@lru_cache(maxsize=_KEPT)
def _ends(n: int, per_myriad: int, confidence: float) -> tuple[int, int]:
    """The places of both ends among `n` sorted values, from 0; several quantities have as many."""
    import scipy  # of an extra: cli/shell/start.py

    tail = (1 - confidence) / 2
    least = rank(n, per_myriad)

    def at_most(place: int) -> float:
        # Of a binomial variable P(X >= r) is this function (NIST's DLMF, 8.17.5); scipy.stats has
        # it by the same code, but takes longer to import than a run to judge.
        return float(scipy.special.betainc(least, n - least + 1, (place + 1) / n))

    low, high = (bisect_left(range(n - 1), share, key=at_most) for share in (tail, 1 - tail))
    return low, high
