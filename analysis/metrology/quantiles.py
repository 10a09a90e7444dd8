"""Summaries by nearest rank: each number of a summary is one that occurred."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from capture.files.documents import Table

# Shares in ten-thousandths. A percentile finer than the samples is a guess: the 99th needs a hundred of them.
MYRIAD = 10_000
PERCENTILES = {"median": 5_000, "p90": 9_000, "p99": 9_900, "p99_9": 9_990, "p99_99": 9_999}

Number = int | float


class Summary(Table):
    """Count, median, percentiles and maximum, in the unit of what was summarised; None where the samples are
    too few.
    """

    n: int
    median: Number | None = None
    p90: Number | None = None
    p99: Number | None = None
    p99_9: Number | None = None
    p99_99: Number | None = None
    max: Number | None = None

    def less(self, baseline: float) -> Summary:
        """Every statistic less `baseline`; the count is the same."""
        taken = {
            name: None if (value := getattr(self, name)) is None else value - baseline
            for name in (*PERCENTILES, "max")
        }
        return Summary(n=self.n, **taken)


def samples_needed(per_myriad: int) -> int:
    """How many samples a percentile needs to lie below the greatest of them; the median needs but one."""
    return 1 if per_myriad <= MYRIAD // 2 else MYRIAD // (MYRIAD - per_myriad)


def rank(n: int, per_myriad: int) -> int:
    """The nearest rank, from 1: the least that has at least that share of `n` samples at or below it."""
    return max(-(-n * per_myriad // MYRIAD), 1)


def nearest_rank(ordered: npt.NDArray[Any], percent: int) -> float | int:
    """The smallest of the `ordered` values with at least `percent` % of them at or below it."""
    return _at_rank(ordered, rank(len(ordered), percent * (MYRIAD // 100)))


def summarise(values: npt.ArrayLike) -> Summary:
    """Summary of `values`, any order, no nulls; statistics without enough samples are None."""
    ordered = np.sort(np.asarray(values))
    n = len(ordered)
    found = {
        name: _at_rank(ordered, rank(n, share)) if n >= samples_needed(share) else None
        for name, share in PERCENTILES.items()
    }
    return Summary(n=n, **found, max=_at_rank(ordered, n) if n else None)


def _at_rank(ordered: npt.NDArray[Any], number: int) -> float | int:
    value: float | int = ordered[number - 1].item()
    return value
