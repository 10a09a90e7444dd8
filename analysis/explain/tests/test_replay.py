"""Cycles and samples of a replay, the edges of a window, and firmware that is another now."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from analysis.explain.replay import Clock, window
from base.run_folder.edges import EdgeList
from tests.tables import table

# 84 MHz at 24 MS/s: 3.5 cycles to a sample; cycle 1,000 begins at 10 us.
CLOCK = Clock(1_000, Fraction(1, 100_000), Fraction(84_000_000), 24_000_000)


@table
def test_a_sample_has_the_cycles_that_begin_in_it(cycle: int, sample: int, first: int) -> None:
    assert CLOCK.sample(cycle) == sample
    assert CLOCK.first_cycle(sample) == first


def test_a_window_has_the_level_at_its_begin_and_each_change_before_its_end() -> None:
    edges = EdgeList(np.array([0, 10, 20, 30]), np.array([0, 1, 3, 2], dtype=np.uint8), 1_000_000, 40)
    assert window(edges, 5, 20) == [(5, 0), (10, 1)]
    assert window(edges, 10, 31) == [(10, 1), (20, 3), (30, 2)]
    assert window(edges, 35, 40) == [(35, 2)]
