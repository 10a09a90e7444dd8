"""Summaries by nearest rank: each number of a summary is one that occurred."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

# A percentile finer than the samples is a guess: the 99th needs a hundred of them.
SAMPLES_FOR_P99 = 100


class Summary(TypedDict):
    """Count, median, 99th percentile and maximum, in the unit of what was summarised."""

    n: int
    median: float | int | None
    p99: float | int | None
    max: float | int | None


def nearest_rank(ordered: npt.NDArray[Any], percent: int) -> float | int:
    """The smallest of the `ordered` values with at least `percent` % of them at or below it."""
    rank = -(-len(ordered) * percent // 100)
    value: float | int = ordered[max(rank, 1) - 1].item()
    return value


def summarise(values: npt.ArrayLike) -> Summary:
    """Summary of `values`, any order, no nulls; statistics without enough samples are None."""
    ordered = np.sort(np.asarray(values))
    if not len(ordered):
        return Summary(n=0, median=None, p99=None, max=None)
    return Summary(
        n=len(ordered),
        median=nearest_rank(ordered, 50),
        p99=nearest_rank(ordered, 99) if len(ordered) >= SAMPLES_FOR_P99 else None,
        max=nearest_rank(ordered, 100),
    )
