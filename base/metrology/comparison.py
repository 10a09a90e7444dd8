"""Compares two distributions: by how much they differ, and how surely. A p-value says neither.

All sums run over distinct values and their counts. Latencies in whole cycles repeat: ten thousand
samples have a few hundred distinct values. The pairs of two samples are counted and never listed:
where values do not repeat, there are too many.

Quantiles are those of scipy.special: scipy.stats has them by the same code, but takes longer to
import than all of this takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .summaries import CONFIDENCE

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

LEAST_SAMPLES = 2
"""Of each side: a single value has no scatter to put an interval to."""
_NARROW = 2.0**-48
"""Of a range: two differences that lie closer together are one, but for rounding."""


@dataclass(frozen=True)
class Comparison:
    """How the first sample differs from the second.

    `delta` is Cliff's delta, from -1 to 1: the share of pairs in which the first is greater, less
    the share in which it is smaller. `shift` is the Hodges-Lehmann estimate of first minus second,
    in the samples' unit. Each comes with its interval (low, high).
    """

    delta: float
    delta_interval: tuple[float, float]
    shift: float
    shift_interval: tuple[float, float]


def compare(first: npt.ArrayLike, second: npt.ArrayLike, confidence: float = CONFIDENCE) -> Comparison:
    """Compares two samples, each of two or more values in any order.

    `confidence` is that of both intervals. Raises ValueError where a sample has fewer values.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if min(len(x), len(y)) < LEAST_SAMPLES:
        raise ValueError("a comparison needs two values on each side")
    delta, delta_interval = cliffs_delta(x, y, confidence)
    shift, shift_interval = hodges_lehmann(x, y, confidence)
    return Comparison(delta, delta_interval, shift, shift_interval)


def cliffs_delta(x: Floats, y: Floats, confidence: float = CONFIDENCE) -> tuple[float, tuple[float, float]]:
    """Cliff's delta of `x` and `y`, and its interval: within -1 and 1, and not symmetric.

    Delta: Cliff, "Dominance statistics: ordinal analyses to answer ordinal questions",
    Psychological Bulletin 114, 1993. Interval: Feng and Cliff, "Monte Carlo evaluation of ordinal d
    with improved confidence interval", JMASM 3, 2004, with Student's t.
    """
    (u, count_u), (v, count_v) = np.unique(x, return_counts=True), np.unique(y, return_counts=True)
    m, n = len(x), len(y)
    (below_u, above_u), (below_v, above_v) = _beside(u, v, count_v), _beside(v, u, count_u)
    of_x, of_y = (below_u - above_u) / n, (above_v - below_v) / m
    delta = float(count_u @ of_x / m)
    if abs(delta) == 1:
        return delta, _interval_of_full_dominance(delta, m, n, confidence)
    rows, columns = count_u @ (of_x - delta) ** 2, count_v @ (of_y - delta) ** 2
    greater, smaller = int(count_u @ below_u), int(count_u @ above_u)
    equal = m * n - greater - smaller
    cells = greater * (1 - delta) ** 2 + smaller * (1 + delta) ** 2 + equal * delta**2
    variance = (n**2 * rows + m**2 * columns - cells) / (m * n * (m - 1) * (n - 1))
    import scipy  # of an extra: cli/shell/start.py

    spread = float(scipy.special.stdtrit(m + n - 2, (1 + confidence) / 2)) * math.sqrt(
        max(float(variance), (1 - delta**2) / (m * n - 1))
    )
    middle, root = delta - delta**3, spread * math.sqrt((1 - delta**2) ** 2 + spread**2)
    scale = 1 - delta**2 + spread**2
    return delta, ((middle - root) / scale, (middle + root) / scale)


def _beside(u: Floats, v: Floats, count_v: Counts) -> tuple[Counts, Counts]:
    """For each value of `u`, how many samples of `v` are below it, and how many above."""
    up_to = np.concatenate(([0], np.cumsum(count_v)))
    below = up_to[np.searchsorted(v, u, "left")]
    return below, up_to[-1] - up_to[np.searchsorted(v, u, "right")]


def _interval_of_full_dominance(delta: float, m: int, n: int, confidence: float) -> tuple[float, float]:
    """The interval where delta is 1 or -1: no pair contradicts, and the variance, 0, says nothing.

    As in Feng and Cliff, the near end is the least delta at which the smaller sample would, with
    the given confidence, have shown a pair that contradicts.
    """
    import scipy  # of an extra: cli/shell/start.py

    z = float(scipy.special.ndtri((1 + confidence) / 2))
    smaller = min(m, n)
    near = (smaller - z**2) / (smaller + z**2)
    return (near, 1.0) if delta > 0 else (-1.0, -near)


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
