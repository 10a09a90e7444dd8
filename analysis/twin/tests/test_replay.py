"""Edges by cycles as an analyzer would have them, worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import polars as pl

from analysis.twin.replay import edge_list
from simulator.outputs import State


def test_edges_fall_into_samples_and_the_last_level_of_a_sample_holds() -> None:
    """At 84 MHz and 24 MS/s a sample is 3.5 cycles. Sample 28 has the cycles 98 to 101, sample 29
    those from 102 to 104; the end, cycle 119, is in sample 34.
    """
    edges = pl.DataFrame(
        {
            "cycle": [98, 101, 102, 104, 105, 110],
            "channel": ["CRIT", "CRIT", "OP", "CRIT", "CRIT", "SYNC"],
            "level": [True, False, True, True, False, False],
        }
    )
    end = State(119, Fraction(119, 84_000_000), Fraction(84_000_000), 0, {}, 0, b"")
    edges_now = edge_list(edges, end, 24_000_000)
    # CRIT is up and down within sample 28. SYNC falls first, so it was high.
    assert edges_now.sample.tolist() == [0, 29, 30, 31]
    assert edges_now.word.tolist() == [0x80, 0x83, 0x82, 0x02]
    assert edges_now.total_samples == 35
