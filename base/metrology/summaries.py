"""Summaries of samples: what run.json says of a quantity, and how far that can move.

It imports nothing that computes, so that what only reads run.json starts quickly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ..files.documents import Table
from .ranks import PERCENTILES

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
    """The ends of each statistic, in its unit, over all ways to decide `count` samples.

    None where there is a way without the statistic, and of `stdev` where there are more than
    MOST_FOR_A_DEVIATION such samples. Of a percentile the ends are bounds: none lies outside.
    """

    count: Annotated[int, Field(gt=0)]
    n: Ends
    min: Ends | None = None
    mean: Ends | None = None
    stdev: Ends | None = None
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
