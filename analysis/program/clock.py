"""Cycles become times, through every clock that the core has had since reset."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from base.run_folder.channels import NS_PER_S
from simulator.outputs import ClockSpan


class Clock:
    """The clocks of a run (Stats.clocks). `rows` say from which cycle and time on the core has had
    which.
    """

    def __init__(self, spans: Sequence[ClockSpan]) -> None:
        self.rows = tuple(
            {"cycle": span.cycle, "ns": float(span.seconds * NS_PER_S), "core_hz": float(span.core_hz)}
            for span in spans
        )
        self._begins = [span.cycle for span in spans]
        self._cycle_ns = [float(NS_PER_S / span.core_hz) for span in spans]
        self.last_hz = self.rows[-1]["core_hz"]
        self.fastest_hz = max(row["core_hz"] for row in self.rows)

    def ns(self, cycle: int) -> float:
        """When this cycle begins, in nanoseconds since reset."""
        span = self._span(cycle)
        return self.rows[span]["ns"] + (cycle - self._begins[span]) * self._cycle_ns[span]

    def first_cycle(self, ns: float) -> int:
        """The first cycle that begins at `ns` after reset, or later."""
        span = max(bisect_right(self.rows, ns, key=lambda row: row["ns"]) - 1, 0)
        return self._begins[span] + ceil((ns - self.rows[span]["ns"]) / self._cycle_ns[span] - 1e-6)

    def between_ns(self, begin: int, end: int) -> float:
        """The time from `begin` to `end`, in ns. Where the clock did not change between them, it is
        the cycles times their length.
        """
        span = self._span(begin)
        same = span == self._span(end)
        return (end - begin) * self._cycle_ns[span] if same else self.ns(end) - self.ns(begin)

    def _span(self, cycle: int) -> int:
        return bisect_right(self._begins, cycle) - 1


NO_CLOCK = Clock((ClockSpan(0, Fraction(0), Fraction(1)),))
"""Where there is nothing to time."""
