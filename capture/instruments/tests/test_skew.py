import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.instruments.skew import fall_delay_samples, skew_between
from capture.reading.wire import read_wire
from capture.tests.synthetic import BIT, CORE_HZ, PORT_GAP, SyntheticRun, small_plan


def test_channels_that_change_together_have_no_skew() -> None:
    wire = read_wire(SyntheticRun(small_plan(depth=2)).edges(), CORE_HZ)
    for channel in ("CRIT", "OP", "ISR", "TASK", "CTRL", "CISR"):
        skew = skew_between(wire, "STIM", channel)
        assert skew is not None
        assert (skew.mean, skew.least, skew.most, skew.bound) == (0, -1, 1, 1)


@pytest.mark.parametrize(("channel", "cycles"), [("ISR", 5), ("CTRL", -3), ("TASK", 4), ("CISR", -1)])
def test_a_late_channel_is_found_out_behind_the_ports_gap(channel: str, cycles: int) -> None:
    run = SyntheticRun(small_plan(depth=2), skew={channel: cycles})
    skew = skew_between(read_wire(run.edges(), CORE_HZ), "STIM", channel)
    assert skew is not None and PORT_GAP != 0
    assert skew.mean == cycles
    assert skew.bound == abs(cycles) + 1


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


def test_without_common_pulses_nothing_is_known() -> None:
    run = SyntheticRun(small_plan(depth=2))
    run.toggles = [toggle for toggle in run.toggles if toggle[0] >= 100_000]
    run.end_cycle -= 80_000
    run.toggles = [toggle for toggle in run.toggles if toggle[0] < run.end_cycle]
    assert skew_between(read_wire(run.edges(), CORE_HZ), "STIM", "ISR") is None


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


def test_falls_in_time_are_told_of_no_delay() -> None:
    for samplerate_hz in (24_000_000, CORE_HZ, 200_000_000):
        wire = read_wire(SyntheticRun(small_plan(depth=2)).edges(samplerate_hz, 40), CORE_HZ)
        delay = fall_delay_samples(wire, "CRIT")
        assert delay is not None and abs(delay) < 0.2
