import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.instruments.calibration import fall_delay_samples, skew_between
from capture.reading.wire import read_wire
from capture.tests.synthetic import BIT, CORE_HZ, SyntheticRun, small_plan


@given(
    cycles=st.integers(-9, 9),
    samplerate_hz=st.integers(12_000_000, 200_000_000),
    ppm=st.integers(-100, 100),
)
def test_the_bounds_hold_whatever_the_rate(cycles: int, samplerate_hz: int, ppm: int) -> None:
    run = SyntheticRun(small_plan(depth=2), skew={"CISR": cycles})
    skew = skew_between(read_wire(run.edges(samplerate_hz, ppm), CORE_HZ), "CTRL", "CISR")
    true_samples = cycles * samplerate_hz * (1 + ppm * 1e-6) / CORE_HZ
    assert skew is not None
    assert skew.least <= true_samples <= skew.most or math.isclose(abs(true_samples), skew.bound)
    assert abs(skew.mean - true_samples) < 1


@pytest.mark.parametrize(
    ("late", "expected"), [({"CRIT"}, {"CRIT": 1, "OP": 0}), (set(BIT), {"CRIT": 1, "OP": 1})]
)
def test_falls_that_are_seen_late_are_told(late: set[str], expected: dict[str, float]) -> None:
    """Each fall of the channels comes a cycle later, which is a sample."""
    run = SyntheticRun(small_plan(depth=2))
    high: set[int] = set()
    moved = []
    for cycle, bit in sorted(run.toggles):
        high ^= {bit}
        falls_late = bit not in high and bit in {BIT[name] for name in late}
        moved.append((cycle + falls_late, bit))
    run.toggles = moved
    wire = read_wire(run.edges(), CORE_HZ)
    delays = {name: fall_delay_samples(wire, name) for name in expected}
    assert delays == pytest.approx(expected)
