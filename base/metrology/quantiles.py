"""Summaries of samples, their distribution as a file for HdrHistogram's tools (`.hgrm`), and how
far a statistic may be off: by chance, and where it is not known which samples belong to it.

Percentiles are by nearest rank: each is a value that occurred. The format of the file is that of
HdrHistogram's AbstractHistogram.outputPercentileDistribution.

Intervals are bootstrap intervals, computed without drawing a sample. A percentile by nearest rank
is an order statistic, and the bootstrap distribution of an order
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

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Floats
from .summaries import (
    CONFIDENCE,
    MYRIAD,
    PERCENTILES,
    Reach,
    Summary,
    rank,
    samples_needed,
    statistics_of,
)


def nearest_rank(ordered: npt.NDArray[Any], percent: int) -> float | int:
    """The smallest of the `ordered` values with at least `percent` % of them at or below it."""
    value: float | int = ordered[rank(len(ordered), percent * (MYRIAD // 100)) - 1].item()
    return value


def summarise(values: npt.ArrayLike, still_open: int = 0) -> Summary:
    """The summary of `values`, one-dimensional, in any order, without nulls. `still_open` of them
    are waits that are not over.
    """
    ordered = np.sort(np.asarray(values)).tolist()
    return Summary(**statistics_of(ordered), open=still_open if ordered else 0)


HEADER = f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}\n\n"


def percentile_distribution(values: npt.ArrayLike, still_open: int = 0) -> str:
    """The text for `values`, in any order, in their own unit with three decimals. Where some are
    waits that are not over, a further comment says that the greatest is a least value.

    Raises ValueError where there are no values.
    """
    samples = np.asarray(values, dtype=np.float64)
    if not len(samples):
        raise ValueError("there are no samples to export")
    distinct, counts = np.unique(samples, return_counts=True)
    total = len(samples)
    lines = [_line(value, at, total) for value, at in zip(distinct, np.cumsum(counts).tolist(), strict=True)]
    lines += [
        f"#[Mean    = {samples.mean():12.3f}, StdDeviation   = {samples.std():12.3f}]\n"
        f"#[Max     = {samples.max():12.3f}, Total count    = {len(samples):12d}]\n"
        f"#[Buckets = {0:12d}, SubBuckets     = {0:12d}]\n"
    ]
    if still_open:
        lines += [f"#[Open    = {still_open:12d}, Max            = {samples.max():.3f} or more]\n"]
    return HEADER + "".join(lines)


def _line(value: float, at_or_below: int, total: int) -> str:
    start = f"{value:12.3f} {at_or_below / total:2.12f} {at_or_below:10d}"
    return f"{start}\n" if at_or_below == total else f"{start} {total / (total - at_or_below):14.2f}\n"


Interval = tuple[float | int, float | int]


def percentile_intervals(values: npt.ArrayLike) -> dict[str, Interval | None]:
    """The interval of each of PERCENTILES for `values`, one-dimensional and in any order.

    None where the values are too few for the percentile.
    """
    ordered = np.sort(np.asarray(values))
    return {
        name: percentile_interval(ordered, share) if len(ordered) >= samples_needed(share) else None
        for name, share in PERCENTILES.items()
    }


def percentile_interval(
    ordered: npt.NDArray[Any], per_myriad: int, confidence: float = CONFIDENCE
) -> Interval:
    """The exact bootstrap interval of the percentile `per_myriad`, in ten-thousandths.

    `ordered` are the sorted values, one or more. Both ends are values that occurred.
    """
    import scipy  # of an extra: cli/shell/start.py

    n, least, tail = len(ordered), rank(len(ordered), per_myriad), (1 - confidence) / 2
    # Of a binomial variable P(X >= r) is the incomplete beta function (NIST's DLMF, 8.17.5);
    # scipy.stats has it by the same code, but takes longer to import than a run to judge.
    low, high = (
        math.ceil(n * float(scipy.special.betaincinv(least, n - least + 1, share))) - 1
        for share in (tail, 1 - tail)
    )
    return ordered[low].item(), ordered[high].item()


def reach(sure: npt.ArrayLike, undecided: npt.ArrayLike) -> Reach | None:
    """The ends over the samples `sure` and any of `undecided`; None where all are sure.

    Some samples surely belong, others may or may not. Each statistic then has a least and a
    greatest value over all ways to decide. A way that leaves nothing is no way.

    Both are one-dimensional, in any order, without nulls.
    """
    surely, perhaps = (np.asarray(values, dtype=np.float64) for values in (sure, undecided))
    if not len(perhaps):
        return None
    surely, perhaps = np.sort(surely), np.sort(perhaps)
    n = (len(surely), len(surely) + len(perhaps))
    if not len(surely):
        return Reach(count=len(perhaps), n=n)
    every = np.sort(np.concatenate((surely, perhaps)))
    ends: dict[str, Any] = {
        name: _percentile(surely, every, share)
        for name, share in PERCENTILES.items()
        if len(surely) >= samples_needed(share)
    }
    return Reach(
        count=len(perhaps),
        n=n,
        min=(every[0].item(), surely[0].item()),
        mean=_mean(surely, perhaps),
        **ends,
        max=(surely[-1].item(), every[-1].item()),
    )


def _percentile(sure: Floats, every: Floats, share: int) -> tuple[float, float]:
    """Bounds of a percentile: more samples only lower what stands at a rank, counted from below."""
    least_rank, most_rank = rank(len(sure), share), rank(len(every), share)
    high = sure[most_rank - 1] if most_rank <= len(sure) else every[-1]
    return every[least_rank - 1].item(), high.item()


def _mean(sure: Floats, perhaps: Floats) -> tuple[float, float]:
    """The ends of the mean: the lowest come in first, or the highest."""
    counts = len(sure) + np.arange(len(perhaps) + 1)
    low, high = (
        (sure.sum() + np.append(0.0, np.cumsum(order))) / counts for order in (perhaps, perhaps[::-1])
    )
    return low.min().item(), high.max().item()
