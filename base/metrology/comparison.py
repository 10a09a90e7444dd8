"""Compares two distributions: by how much they differ, and how surely. A p-value says neither.

All sums run over distinct values and their counts. Latencies in whole cycles repeat: ten thousand
samples have a few hundred distinct values. The pairs of two samples are counted and never listed:
where values do not repeat, there are too many.

Quantiles are those of scipy.special: scipy.stats has them by the same code, but takes longer to
import than all of this takes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from ..arrays import Floats
from .summaries import CONFIDENCE

LEAST_SAMPLES = 2
"""Of each side: a single value has no scatter to put an interval to."""
_STEPS = 1 << 48
"""Of a range: two differences that lie closer together are one, but for rounding."""


def hodges_lehmann(x: Floats, y: Floats) -> tuple[float, tuple[float, float]]:
    """The median of all differences x - y, in the unit of the samples, and its interval.

    The interval holds the shifts that a Mann-Whitney test would not reject, by the normal
    approximation. Sources: Hodges and Lehmann, "Estimates of location based on rank tests", Annals
    of Mathematical Statistics 34, 1963; Hollander and Wolfe, Nonparametric Statistical Methods,
    section 4.3.
    """
    import scipy  # of an extra: cli/shell/start.py

    m, n = len(x), len(y)
    pairs = m * n
    at_rank = _differences(x, y)

    def ranked(rank: int) -> float:
        return at_rank(min(max(rank, 1), pairs))

    half_width = float(scipy.special.ndtri((1 + CONFIDENCE) / 2)) * math.sqrt(pairs * (m + n + 1) / 12)
    lowest = math.floor(pairs / 2 - half_width)
    estimate = (ranked((pairs + 1) // 2) + ranked(pairs // 2 + 1)) / 2
    return estimate, (ranked(lowest), ranked(pairs + 1 - lowest))


def _differences(x: Floats, y: Floats) -> Callable[[int], float]:
    """What gives the difference of a rank, from 1, among those of two samples, without a list of
    them: halves the range that it lies in, then takes the difference of two values that is nearest.
    """
    u, count_u = np.unique(x, return_counts=True)
    v, count_v = np.unique(y, return_counts=True)
    up_to = np.concatenate(([0], np.cumsum(count_v)))
    least, most = float(u[0] - v[-1]), float(u[-1] - v[0])
    step = (abs(least) + abs(most)) / _STEPS

    def at_most(number: int) -> int:
        """How many differences lie up to so many steps from the least."""
        smaller = up_to[np.searchsorted(v, u - (least + number * step), "left")]
        return int(count_u @ (up_to[-1] - smaller))

    def at_rank(rank: int) -> float:
        near = least + bisect_left(range(_STEPS + 1), rank, key=at_most) * step
        after = np.searchsorted(v, u - near, "left")
        differences = np.concatenate([u - v[np.clip(after + way, 0, len(v) - 1)] for way in (-1, 0)])
        return float(differences[np.abs(differences - near).argmin()])

    return at_rank


def exceedance_p(x: Floats, y: Floats) -> float:
    """The probability that chance alone puts as many of `y` above all of `x`.

    Both are draws from one continuous distribution then, and each of the greatest values is as
    likely of the one as of the other. That the k greatest of all m + n values are of `y` has
    probability C(n, k) / C(m + n, k). It is 1 where no value is above. Each sample has one value or
    more. Source: Rosenbaum, "Tables for a nonparametric test of location", Annals of Mathematical
    Statistics 25, 1954.
    """
    m, n, above = len(x), len(y), int(np.count_nonzero(y > x.max()))
    return math.prod((n - i) / (m + n - i) for i in range(above))
