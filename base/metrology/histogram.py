"""Export for HdrHistogram's tools: its text format of a percentile distribution (`.hgrm`).

The format is that of HdrHistogram's AbstractHistogram.outputPercentileDistribution. There is a line
for each value that occurred: the value, the share of samples at or below it, their count, and one
over the share above it. The export is exact: nothing is put into buckets.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

HEADER = f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}\n\n"


def percentile_distribution(values: npt.ArrayLike) -> str:
    """The text for `values`, in any order, in their own unit with three decimals.

    Raises ValueError where there are no values.
    """
    samples = np.asarray(values, dtype=np.float64)
    if not len(samples):
        raise ValueError("there are no samples to export")
    distinct, counts = np.unique(samples, return_counts=True)
    total = len(samples)
    lines = [_line(value, at, total) for value, at in zip(distinct, np.cumsum(counts).tolist(), strict=True)]
    return HEADER + "".join(lines) + _footer(samples)


def _line(value: float, at_or_below: int, total: int) -> str:
    start = f"{value:12.3f} {at_or_below / total:2.12f} {at_or_below:10d}"
    return f"{start}\n" if at_or_below == total else f"{start} {total / (total - at_or_below):14.2f}\n"


def _footer(samples: npt.NDArray[np.float64]) -> str:
    return (
        f"#[Mean    = {samples.mean():12.3f}, StdDeviation   = {samples.std():12.3f}]\n"
        f"#[Max     = {samples.max():12.3f}, Total count    = {len(samples):12d}]\n"
        f"#[Buckets = {0:12d}, SubBuckets     = {0:12d}]\n"
    )
