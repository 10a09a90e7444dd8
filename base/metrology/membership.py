"""How far a statistic can move where it is not known which samples belong to it.

Some samples surely belong, others may or may not. Each statistic then has a least and a greatest
value over all ways to decide. A way that leaves nothing is no way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .ranks import PERCENTILES, rank, samples_needed
from .summaries import Reach

Floats = npt.NDArray[np.float64]
# The least and the greatest deviation are sought among all ways, and those grow with the square.
MOST_FOR_A_DEVIATION = 256


def reach(sure: npt.ArrayLike, undecided: npt.ArrayLike) -> Reach | None:
    """The ends over the samples `sure` and any of `undecided`; None where all are sure.

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
        stdev=_deviation(surely, perhaps),
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
    low, high = ((sure.sum() + _sums(order)) / counts for order in (perhaps, perhaps[::-1]))
    return low.min().item(), high.max().item()


def _deviation(sure: Floats, perhaps: Floats) -> tuple[float, float] | None:
    """The ends of a sample's deviation.

    Near the mean a sample lowers it, far from the mean it raises it. So the least has neighbours of
    `perhaps` in it, and the greatest has what is left beside neighbours.
    """
    if len(sure) < 2 or len(perhaps) > MOST_FOR_A_DEVIATION:
        return None
    centre = sure.mean()
    sums, squares = _sums(perhaps - centre), _sums((perhaps - centre) ** 2)
    first, after = np.triu_indices(len(perhaps) + 1)
    inner = (after - first, sums[after] - sums[first], squares[after] - squares[first])
    outer = (len(perhaps) - inner[0], sums[-1] - inner[1], squares[-1] - inner[2])
    own_squares = ((sure - centre) ** 2).sum()
    variances = []
    for count, sum_, square in (inner, outer):
        n = len(sure) + count
        variances.append((own_squares + square - sum_**2 / n) / (n - 1))
    low, high = (np.sqrt(np.maximum(variance, 0.0)) for variance in variances)
    return low.min().item(), high.max().item()


def _sums(values: Floats) -> Floats:
    """The sums of the first 0, 1, … values: float64[n + 1]."""
    return np.concatenate(([0.0], np.cumsum(values)))
