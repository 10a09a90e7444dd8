"""Cycles to times, through every clock that the core has had since reset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from base.run_folder.edges import NS_PER_S
from simulator.outputs import ClockSpan


class Clock:
    """The clocks of a run (Stats.clocks): one row for each span of cycles that are equally long."""

    def __init__(self, spans: Sequence[ClockSpan]) -> None:
        self._cycle = np.array([span.cycle for span in spans], dtype=np.int64)
        self._ns = np.array([float(span.seconds * NS_PER_S) for span in spans])
        self._cycle_ns = np.array([float(NS_PER_S / span.core_hz) for span in spans])
        self.last_hz = float(spans[-1].core_hz)

    def ns(self, cycles: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """When these cycles begin, in nanoseconds since reset."""
        at = np.asarray(cycles, dtype=np.int64)
        span = self._span(at)
        found: npt.NDArray[np.float64] = self._ns[span] + (at - self._cycle[span]) * self._cycle_ns[span]
        return found

    def between_ns(self, begin: npt.ArrayLike, end: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """How long it is from each of `begin` to that of `end`.

        Where the clock did not change between them, it is the cycles times their length.
        """
        first, last = np.asarray(begin, dtype=np.int64), np.asarray(end, dtype=np.int64)
        one = self._span(first) == self._span(last)
        same: npt.NDArray[np.float64] = (last - first) * self._cycle_ns[self._span(first)]
        return np.where(one, same, self.ns(last) - self.ns(first))

    def _span(self, cycles: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        return np.searchsorted(self._cycle, cycles, side="right") - 1
