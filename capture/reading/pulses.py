"""Pulses of a channel, and the windows of the operations in which they lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from base.run_folder.edges import Samples


@dataclass(frozen=True)
class PulseTrain:
    """The complete high pulses of a channel: the samples of their edges.

    `start` are the rising edges, `end` the falling ones, int64[n] each. A pulse that an end of the
    capture cuts off has no width and is not among them.
    """

    start: Samples
    end: Samples

    def __len__(self) -> int:
        return len(self.start)

    @property
    def width(self) -> Samples:
        """Widths in samples, int64[n]."""
        return self.end - self.start

    def starting_within(self, first: int, last: int) -> PulseTrain:
        """The pulses that start at sample `first` or later, and before sample `last`."""
        inside = (self.start >= first) & (self.start < last)
        return PulseTrain(self.start[inside], self.end[inside])

    def numbered(self, first: int | None, last: int | None) -> PulseTrain:
        """The pulses from number `first` up to but not including `last`, as in a slice."""
        return PulseTrain(self.start[first:last], self.end[first:last])

    def ranges_in(self, windows: Windows) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Which pulses start in each window: the first number and the one after the last.

        Two intp[windows]. They are equal where no pulse starts in the window.
        """
        return np.searchsorted(self.start, windows.start), np.searchsorted(self.start, windows.end)

    def counts_in(self, windows: Windows) -> npt.NDArray[np.int64]:
        """How many pulses start in each window, int64[windows]."""
        first, after = self.ranges_in(windows)
        return (after - first).astype(np.int64)

    def widths_in(self, windows: Windows) -> Samples:
        """The sum of the widths of the pulses that start in each window, int64[windows]."""
        total = np.concatenate(([0], np.cumsum(self.width)))
        first, after = self.ranges_in(windows)
        widths: Samples = total[after] - total[first]
        return widths

    def longest_in(self, windows: Windows) -> Samples:
        """The width of the longest pulse that starts in each window, int64[windows]; 0 without."""
        first, after = self.ranges_in(windows)
        longest: Samples = np.zeros(len(windows), dtype=np.int64)
        some = after > first
        if some.any():
            ends = np.column_stack((first, after))[some].ravel()
            longest[some] = np.maximum.reduceat(np.append(self.width, 0), ends)[::2]
        return longest


@dataclass(frozen=True)
class Windows:
    """Windows of operations on SYNC: from sample `start` up to but not `end`, int64[n] each."""

    start: Samples
    end: Samples

    def __len__(self) -> int:
        return len(self.start)
