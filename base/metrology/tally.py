"""Values that are counted as they come, and forgotten: how often each occurred.

The count is exact while there are no more than MOST_VALUES different ones. Beyond that they are
counted in bins, all of one width, which doubles as often as it must.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .summaries import Summary, statistics_of

Whole = npt.NDArray[np.int64]

MOST_VALUES = 1 << 17
"""Different values, or bins, that are counted: 2 MiB."""
_HELD_MOST = 1 << 16


@dataclass(frozen=True, eq=False)
class Counted:
    """`values` int64[n] increase, and `counts` int64[n] says how often each occurred.

    Where `bin` is more than 1, a value stands for itself and the `bin` - 1 above it. `least` and
    `greatest` are exact; None without values.
    """

    values: Whole
    counts: Whole
    bin: int = 1
    least: int | None = None
    greatest: int | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counted):
            return NotImplemented
        return (
            (self.bin, self.least, self.greatest) == (other.bin, other.least, other.greatest)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.counts, other.counts)
        )

    @property
    def n(self) -> int:
        """How many values there were."""
        return int(self.counts.sum())

    def summary(self, unit: float) -> Summary:
        """The summary of all values, times `unit`: that of summarise() where `bin` is 1."""
        statistics = statistics_of((self.values * unit).tolist(), self.counts.tolist())
        summary = Summary(**statistics, open=0)
        if self.least is None or self.greatest is None:
            return summary
        return summary.model_copy(update={"min": self.least * unit, "max": self.greatest * unit})


class Tally:
    """Counts values; the memory does not grow with their number."""

    def __init__(self, most_values: int = MOST_VALUES) -> None:
        self._most_values = most_values
        self._values: Whole = np.empty(0, np.int64)
        self._counts: Whole = np.empty(0, np.int64)
        self._held: list[Whole] = []
        self._held_size = 0
        self._bin = 1
        self._least: int | None = None
        self._greatest: int | None = None

    def add(self, values: Whole) -> None:
        """Counts `values`, int64[n], none of them negative."""
        if not values.size:
            return
        least, greatest = int(values.min()), int(values.max())
        self._least = least if self._least is None else min(self._least, least)
        self._greatest = greatest if self._greatest is None else max(self._greatest, greatest)
        self._held.append(values)
        self._held_size += values.size
        if self._held_size >= _HELD_MOST:
            self._settle()

    def counted(self) -> Counted:
        """What was counted so far, which later values do not change."""
        self._settle()
        return Counted(self._values, self._counts, self._bin, self._least, self._greatest)

    def _settle(self) -> None:
        if not self._held:
            return
        new, counts = np.unique(np.concatenate(self._held), return_counts=True)
        self._held, self._held_size = [], 0
        values = np.concatenate((self._values, new // self._bin * self._bin))
        self._values, self._counts = _merged(values, np.concatenate((self._counts, counts)))
        while self._values.size > self._most_values:
            self._bin *= 2
            self._values, self._counts = _merged(self._values // self._bin * self._bin, self._counts)


def _merged(values: Whole, counts: Whole) -> tuple[Whole, Whole]:
    """Each value once, in order, with the sum of its counts."""
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order]
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return values[first], np.add.reduceat(counts, first)
