"""Percentiles by nearest rank, and the statistics of samples. It loads nothing that takes long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

MYRIAD = 10_000
# By name, each as a share in ten-thousandths.
PERCENTILES = {"median": 5_000, "p90": 9_000, "p99": 9_900, "p99_9": 9_990, "p99_99": 9_999}


def samples_needed(per_myriad: int) -> int:
    """How many samples a percentile needs, given as its share in ten-thousandths.

    A percentile finer than the samples is a guess: it must be able to lie below the greatest of
    them, so the 99th needs a hundred. The median needs but one.
    """
    return 1 if per_myriad <= MYRIAD // 2 else MYRIAD // (MYRIAD - per_myriad)


def rank(n: int, per_myriad: int) -> int:
    """The nearest rank, from 1, of a percentile of `n` samples, given in ten-thousandths.

    It is the least rank with at least that share of the samples at or below it.
    """
    return max(-(-n * per_myriad // MYRIAD), 1)


def statistics_of(ordered: Sequence[float]) -> dict[str, Any]:
    """`n`, and in the unit of the samples, which ascend, `min`, `mean`, `stdev`, percentiles and
    `max`; None where there are too few. `stdev` is that of a sample: squared distances over n - 1,
    and the root. The sums are exactly rounded: no processor's order of additions shows.
    """
    n = len(ordered)
    mean = math.fsum(ordered) / n if n else None
    squares = math.fsum((value - mean) * (value - mean) for value in ordered) if mean is not None else 0.0
    return {
        "n": n,
        "min": ordered[0] if n else None,
        "mean": mean,
        "stdev": math.sqrt(squares / (n - 1)) if n > 1 else None,
        **{
            name: ordered[rank(n, share) - 1] if n >= samples_needed(share) else None
            for name, share in PERCENTILES.items()
        },
        "max": ordered[-1] if n else None,
    }
