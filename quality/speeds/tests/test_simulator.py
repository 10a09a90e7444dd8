"""Simulator and Unicorn execute the same loads, and the ratio is that of a repeat."""

import pytest

from quality.speeds import simulator

LAPS, BLOCKS = 10_000, 256
"""As in loads.c."""


@pytest.mark.long
def test_each_load_has_its_instructions_and_the_ratio_of_a_repeat() -> None:
    figures = simulator.measure(1)
    assert set(figures) == set(simulator.LOADS)
    for row in figures.values():
        assert row["ratio"] == pytest.approx(row["nucleo_mips"] / row["unicorn_mips"])
        assert row["unicorn_mips"] > 1 and row["nucleo_mips"] > 1
    assert 4 < figures["walk"]["instructions"] / (LAPS * BLOCKS) < 8  # a block's load, compare and branch
