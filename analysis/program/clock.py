"""Cycles become times, through every clock that the core has had since reset."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from base.run_folder.edges import NS_PER_S
from simulator.outputs import ClockSpan


class Clock:
    """The clocks of a run (Stats.clocks): one row for each span of cycles that are equally long."""

    def __init__(self, spans: Sequence[ClockSpan]) -> None:
        self._spans = spans
        self._cycle = np.array([span.cycle for span in spans], dtype=np.int64)
        self._ns = np.array([float(span.seconds * NS_PER_S) for span in spans])
        self._cycle_ns = np.array([float(NS_PER_S / span.core_hz) for span in spans])
        self.last_hz = float(spans[-1].core_hz)
        self.fastest_hz = max(float(span.core_hz) for span in spans)

    @property
    def rows(self) -> tuple[dict[str, float], ...]:
        """From which cycle and time on the core has had which clock."""
        return tuple(
            {
                "cycle": span.cycle,
                "ns": float(span.seconds * NS_PER_S),
                "core_hz": float(span.core_hz),
            }
            for span in self._spans
        )

    def ns(self, cycles: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """When these cycles begin, in nanoseconds since reset."""
        at = np.asarray(cycles, dtype=np.int64)
        span = self._span(at)
        array: npt.NDArray[np.float64] = self._ns[span] + (at - self._cycle[span]) * self._cycle_ns[span]
        return array

    def first_cycle(self, ns: float) -> int:
        """The first cycle that begins at `ns` after reset, or later."""
        span = max(int(np.searchsorted(self._ns, ns, side="right")) - 1, 0)
        further = float((ns - self._ns[span]) / self._cycle_ns[span])
        return int(self._cycle[span]) + ceil(further - 1e-6)

    def between_ns(self, begin: npt.ArrayLike, end: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The time from each of `begin` to that of `end`, in ns.

        Where the clock did not change between them, it is the cycles times their length.
        """
        first, last = np.asarray(begin, dtype=np.int64), np.asarray(end, dtype=np.int64)
        together = self._span(first) == self._span(last)
        same: npt.NDArray[np.float64] = (last - first) * self._cycle_ns[self._span(first)]
        return np.where(together, same, self.ns(last) - self.ns(first))

    def _span(self, cycles: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        return np.searchsorted(self._cycle, cycles, side="right") - 1


NO_CLOCK = Clock((ClockSpan(0, Fraction(0), Fraction(1)),))
"""Where there is nothing to time."""
