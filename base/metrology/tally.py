"""Values that are counted as they come, and forgotten: how often each occurred.

The count is exact while there are no more than MOST_VALUES different ones. Beyond that they are
counted in bins, all of one width, which doubles as often as it must.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Integers, OfArrays
from .summaries import Summary, statistics_of

MOST_VALUES = 1 << 17
"""Different values, or bins, that are counted: 2 MiB."""


@dataclass(frozen=True, eq=False)
class Counted(OfArrays):
    """`values` int64[n] increase, and `counts` int64[n] says how often each occurred.

    Where `bin` is more than 1, a value stands for itself and the `bin` - 1 above it. `least` and
    `greatest` are exact; None without values.
    """

    values: Integers
    counts: Integers
    bin: int = 1
    least: int | None = None
    greatest: int | None = None

    @property
    def n(self) -> int:
        """How many values there were."""
        return int(self.counts.sum())

    def summary(self, unit: float) -> Summary:
        """The summary of all values, times `unit`: that of summarise() where `bin` is 1."""
        summary = Summary(**statistics_of((self.values * unit).tolist(), self.counts.tolist()), open=0)
        if self.least is None or self.greatest is None:
            return summary
        return summary.model_copy(update={"min": self.least * unit, "max": self.greatest * unit})


class Tally:
    """Counts values; the memory does not grow with their number."""

    def __init__(self, most_values: int = MOST_VALUES) -> None:
        self._most_values = most_values
        self.counted = Counted(np.empty(0, np.int64), np.empty(0, np.int64))
        """What was counted so far, which later values do not change."""

    def add(self, values: Integers) -> None:
        """Counts `values`, int64[n], none of them negative."""
        if not values.size:
            return
        before, (new, counts) = self.counted, np.unique(values, return_counts=True)
        size = before.bin
        values = np.concatenate((before.values, new // size * size))
        values, counts = _merged(values, np.concatenate((before.counts, counts)))
        while values.size > self._most_values:
            size *= 2
            values, counts = _merged(values // size * size, counts)
        ends = [
            *(end for end in (before.least, before.greatest) if end is not None),
            int(new[0]),
            int(new[-1]),
        ]
        self.counted = Counted(values, counts, size, min(ends), max(ends))


def _merged(values: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Each value once, in order, with the sum of its counts, which are below 2^53."""
    merged, place = np.unique(values, return_inverse=True)
    return merged, np.bincount(place, counts).astype(np.int64)
