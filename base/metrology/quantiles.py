"""Summaries of samples, and their distribution as a file for HdrHistogram's tools (`.hgrm`).

Percentiles are by nearest rank: each is a value that occurred. The format of the file is that of
HdrHistogram's AbstractHistogram.outputPercentileDistribution.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .ranks import MYRIAD, PERCENTILES, rank, samples_needed, statistics_of
from .summaries import Summary


def nearest_rank(ordered: npt.NDArray[Any], percent: int) -> float | int:
    """The smallest of the `ordered` values with at least `percent` % of them at or below it."""
    return _at_rank(ordered, rank(len(ordered), percent * (MYRIAD // 100)))


def summarise(values: npt.ArrayLike, still_open: int = 0) -> Summary:
    """The summary of `values`, one-dimensional, in any order, without nulls. `still_open` of them
    are waits that are not over.
    """
    ordered = np.sort(np.asarray(values)).tolist()
    return Summary(**statistics_of(ordered), open=still_open if ordered else 0)


def summarise_counted(values: npt.ArrayLike, counts: npt.ArrayLike) -> Summary:
    """summarise() of values that occur as often as `counts` says, to the last bit.

    `values` increase; both are one-dimensional and of one length, and no count is 0.
    """
    ordered, times = np.asarray(values), np.asarray(counts)
    if not len(ordered):
        return Summary(n=0)
    until = np.cumsum(times)
    n = int(until[-1])

    def at(number: int) -> float | int:
        return _at_rank(ordered, int(np.searchsorted(until, number)) + 1)

    statistics = {
        name: at(rank(n, share)) if n >= samples_needed(share) else None
        for name, share in PERCENTILES.items()
    }
    mean = _exact_sum(ordered, times) / n
    distances = ordered.astype(np.float64) - mean
    squares = _exact_sum(distances * distances, times)
    return Summary(
        n=n,
        min=at(1),
        mean=mean,
        stdev=math.sqrt(squares / (n - 1)) if n > 1 else None,
        **statistics,
        max=at(n),
        open=0,
    )


def _exact_sum(values: npt.NDArray[Any], times: npt.NDArray[Any]) -> float:
    """The sum of each value as often as it occurs, rounded once, as by math.fsum."""
    by_denominator: dict[int, int] = defaultdict(int)
    for value, count in zip(values.tolist(), times.tolist(), strict=True):
        numerator, denominator = value.as_integer_ratio()
        by_denominator[denominator] += numerator * count
    return float(sum(Fraction(top, bottom) for bottom, top in by_denominator.items()))


def _at_rank(ordered: npt.NDArray[Any], number: int) -> float | int:
    value: float | int = ordered[number - 1].item()
    return value


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
    more = (
        f"#[Open    = {still_open:12d}, Max            = {samples.max():.3f} or more]\n" if still_open else ""
    )
    return HEADER + "".join(lines) + _footer(samples) + more


def _line(value: float, at_or_below: int, total: int) -> str:
    start = f"{value:12.3f} {at_or_below / total:2.12f} {at_or_below:10d}"
    return f"{start}\n" if at_or_below == total else f"{start} {total / (total - at_or_below):14.2f}\n"


def _footer(samples: npt.NDArray[np.float64]) -> str:
    return (
        f"#[Mean    = {samples.mean():12.3f}, StdDeviation   = {samples.std():12.3f}]\n"
        f"#[Max     = {samples.max():12.3f}, Total count    = {len(samples):12d}]\n"
        f"#[Buckets = {0:12d}, SubBuckets     = {0:12d}]\n"
    )
