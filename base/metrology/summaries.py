"""Summaries of samples: what run.json says of a quantity, and how far that can move.

It imports nothing that computes, so that what only reads run.json starts quickly.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import mul
from typing import Annotated, Any

from pydantic import Field

from ..files.documents import Table

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


def statistics_of(ordered: Sequence[float], times: Sequence[int] = ()) -> dict[str, Any]:
    """`n`, and in the unit of the samples, which ascend, `min`, `mean`, `stdev`, percentiles and
    `max`; None where there are too few. Each occurs as often as `times` says, or once.

    `stdev` is that of a sample: squared distances over n - 1, and the root. The sums are exactly
    rounded: no processor's order of additions shows.
    """
    times = times or [1] * len(ordered)
    until = list(accumulate(times))
    n = until[-1] if until else 0
    mean = math.fsum(map(mul, ordered, times)) / n if n else None
    squares = (
        math.fsum(
            (value - mean) * (value - mean) * count for value, count in zip(ordered, times, strict=True)
        )
        if mean is not None
        else 0.0
    )
    return {
        "n": n,
        "min": ordered[0] if n else None,
        "mean": mean,
        "stdev": math.sqrt(squares / (n - 1)) if n > 1 else None,
        **{
            name: ordered[bisect_left(until, rank(n, share))] if n >= samples_needed(share) else None
            for name, share in PERCENTILES.items()
        },
        "max": ordered[-1] if n else None,
    }


MOST_NUMBER = 1e28
"""What any figure of a document may be, or minus that: in ns the most samples at 1 Hz."""

AT_LEAST = "≥ "

CONFIDENCE = 0.95
"""Of every interval, unless a caller asks for another."""

Number = Annotated[int | float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)]

# JSON has a list where this has a tuple: the list becomes a tuple, and its parts stay strict.
Ends = Annotated[tuple[Number, Number], Field(strict=False)]


class Summary(Table):
    """Statistics in the unit of the samples; None where these are too few.

    `stdev` is that of a sample, with n - 1 below the root. `open` is how many of the samples are
    waits that were not over: they last at least so long, and so `max` is a least value.
    """

    n: Annotated[int, Field(ge=0)]
    min: Number | None = None
    mean: Number | None = None
    stdev: Annotated[Number, Field(ge=0)] | None = None
    median: Number | None = None
    p90: Number | None = None
    p99: Number | None = None
    p99_9: Number | None = None
    p99_99: Number | None = None
    max: Number | None = None
    open: Annotated[int, Field(ge=0)] = 0

    @property
    def at_least(self) -> str:
        """What stands before `max` where it is read: `≥ ` if it is a least value."""
        return AT_LEAST if self.open else ""

    def waiting(self, lasted: float) -> Summary:
        """The summary beside a wait that is not over and has `lasted` so long: it is no sample."""
        greatest = lasted if self.max is None else max(self.max, lasted)
        return self.model_copy(update={"max": greatest, "open": self.open + 1})

    def less(self, baseline: float) -> Summary:
        """Every statistic less `baseline`; count and deviation are the same."""
        taken = {
            name: None if (value := getattr(self, name)) is None else value - baseline
            for name in ("min", "mean", *PERCENTILES, "max")
        }
        return self.model_copy(update=taken)


class Reach(Table):
    """The ends of each statistic but the deviation, in its unit, over all ways to decide `count`
    samples. None where there is a way without the statistic.

    Of a percentile the ends are bounds: none lies outside.
    """

    count: Annotated[int, Field(gt=0)]
    n: Ends
    min: Ends | None = None
    mean: Ends | None = None
    median: Ends | None = None
    p90: Ends | None = None
    p99: Ends | None = None
    p99_9: Ends | None = None
    p99_99: Ends | None = None
    max: Ends | None = None


def beside_open(summaries: Mapping[str, Summary], lasted: Mapping[str, float]) -> dict[str, Summary]:
    """The summaries, each beside the wait of its name in `lasted`, which is not over."""
    return {
        name: summary.waiting(lasted[name]) if name in lasted else summary
        for name, summary in summaries.items()
    }
