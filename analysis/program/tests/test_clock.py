"""Times of cycles, by clocks that change."""

from __future__ import annotations

from fractions import Fraction

import pytest

from analysis.program.clock import Clock
from simulator.outputs import ClockSpan

HSI = ClockSpan(0, Fraction(0), Fraction(16_000_000))
PLL = ClockSpan(1000, Fraction(1000, 16_000_000), Fraction(84_000_000))


def test_each_cycle_is_as_long_as_its_clock_says() -> None:
    """1,000 cycles of 62.5 ns, then 84 cycles to the microsecond."""
    clock = Clock([HSI, PLL])
    assert [*map(clock.ns, (0, 1000, 1084))] == pytest.approx([0, 62_500, 63_500])
    across, after = (clock.between_ns(cycle, 1084) for cycle in (840, 1000))
    assert [across, after] == pytest.approx([160 * 62.5 + 1000, 1000])
    assert clock.last_hz == clock.fastest_hz == 84_000_000
    # Where the clock stays a length is exact, however late.
    assert Clock([HSI]).between_ns(10**13 + 7, 10**13 + 1008) == 1001 * 62.5
