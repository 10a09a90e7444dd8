"""Compares two distributions: by how much they differ, and how surely. A p-value says neither.

All sums run over distinct values and their counts. Latencies in whole cycles repeat: ten thousand
samples have a few hundred distinct values. The pairs of two samples are counted and never listed:
where values do not repeat, there are too many.

Quantiles are those of scipy.special: scipy.stats has them by the same code, but takes longer to
import than all of this takes.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .summaries import CONFIDENCE

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

LEAST_SAMPLES = 2
"""Of each side: a single value has no scatter to put an interval to."""
_NARROW = 2.0**-48
"""Of a range: two differences that lie closer together are one, but for rounding."""


def hodges_lehmann(x: Floats, y: Floats, confidence: float = CONFIDENCE) -> tuple[float, tuple[float, float]]:
    """The median of all differences x - y, in the unit of the samples, and its interval.

    The interval holds the shifts that a Mann-Whitney test would not reject, by the normal
    approximation. Sources: Hodges and Lehmann, "Estimates of location based on rank tests", Annals
    of Mathematical Statistics 34, 1963; Hollander and Wolfe, Nonparametric Statistical Methods,
    section 4.3.
    """
    import scipy  # of an extra: cli/shell/start.py

    m, n = len(x), len(y)
    pairs = m * n
    differences = _Differences(x, y)

    def ranked(rank: int) -> float:
        return differences.at_rank(min(max(rank, 1), pairs))

    half_width = float(scipy.special.ndtri((1 + confidence) / 2)) * math.sqrt(pairs * (m + n + 1) / 12)
    lowest = math.floor(pairs / 2 - half_width)
    estimate = (ranked((pairs + 1) // 2) + ranked(pairs // 2 + 1)) / 2
    return estimate, (ranked(lowest), ranked(pairs + 1 - lowest))


class _Differences:
    """All differences of two samples, in order, without a list of them."""

    def __init__(self, x: Floats, y: Floats) -> None:
        self._u, self._count_u = np.unique(x, return_counts=True)
        self._v, count_v = np.unique(y, return_counts=True)
        self._up_to = np.concatenate(([0], np.cumsum(count_v)))

    def at_rank(self, rank: int) -> float:
        """The difference of that rank, from 1: halves the range that it lies in, then takes the
        difference of two values that is nearest.
        """
        u, v = self._u, self._v
        low, high = float(u[0] - v[-1]), float(u[-1] - v[0])
        resolution = (abs(low) + abs(high)) * _NARROW
        low -= resolution
        while high - low > resolution:
            middle = (low + high) / 2
            if self._at_most(middle) >= rank:
                high = middle
            else:
                low = middle
        return self._nearest(high)

    def _at_most(self, limit: float) -> int:
        """The number of differences that are at most `limit`."""
        smaller = self._up_to[np.searchsorted(self._v, self._u - limit, "left")]
        return int(self._count_u @ (self._up_to[-1] - smaller))

    def _nearest(self, value: float) -> float:
        after = np.searchsorted(self._v, self._u - value, "left")
        differences = np.concatenate(
            [self._u - self._v[np.clip(after + step, 0, len(self._v) - 1)] for step in (-1, 0)]
        )
        return float(differences[np.abs(differences - value).argmin()])


def exceedance_p(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """The probability that chance alone puts as many of `second` above all of `first`.

    Both are draws from one continuous distribution then, and each of the greatest values is as
    likely of the one as of the other. That the k greatest of all m + n values are of the second has
    probability C(n, k) / C(m + n, k). It is 1 where no value is above. Each sample has one value or
    more. Source: Rosenbaum, "Tables for a nonparametric test of location", Annals of Mathematical
    Statistics 25, 1954.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    m, n, above = len(x), len(y), int(np.count_nonzero(y > x.max()))
    return math.prod((n - i) / (m + n - i) for i in range(above))
