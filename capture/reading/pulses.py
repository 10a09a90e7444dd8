"""The pulses of a channel, and the windows that they are told apart by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.run_folder.edges import Samples


@dataclass(frozen=True)
class PulseTrain:
    """Complete pulses of one channel: int64[n] samples of their rising and falling edges."""

    start: Samples
    end: Samples

    @property
    def width(self) -> Samples:
        """Widths in samples, int64[n]."""
        return self.end - self.start

    def between(self, first: int, last: int) -> PulseTrain:
        """The pulses that start at `first` or later and before `last`."""
        inside = (self.start >= first) & (self.start < last)
        return PulseTrain(self.start[inside], self.end[inside])

    def numbers(self, first: int | None, last: int | None) -> PulseTrain:
        """The pulses from number `first` up to but not including `last`, as a slice counts them."""
        return PulseTrain(self.start[first:last], self.end[first:last])

    def indices(self, windows: Windows) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """For each window, the half-open range of the pulses that start in it: two intp[windows]."""
        return np.searchsorted(self.start, windows.start), np.searchsorted(self.start, windows.end)

    def widths_in(self, windows: Windows) -> Samples:
        """For each window, the sum of the widths of the pulses that start in it: int64[windows]."""
        total = np.concatenate(([0], np.cumsum(self.width)))
        first, last = self.indices(windows)
        widths: Samples = total[last] - total[first]
        return widths


@dataclass(frozen=True)
class Windows:
    """The operations' windows on SYNC: window `seq` is [start[seq], end[seq]), samples, int64[n]."""

    start: Samples
    end: Samples

    def __len__(self) -> int:
        return len(self.start)
