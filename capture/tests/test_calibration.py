"""What the calibration of a run tells: the clocks, the markers' skew, falls that are seen late."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.run_folder.manifest import AskedFirmware, ToolReport
from base.run_folder.records import CalibrationRecord, parse
from capture.instruments.calibration import COUNTER_CYCLES, fall_delay_samples, fit_counter, skew_between
from capture.joining.evidence import decode
from capture.reading.wire import read_wire
from capture.tests.synthetic import BIT, CORE_HZ, COUNTER_AHEAD, TICK_PERIOD, SyntheticRun, small_plan
from capture.verdict.verdict import judge


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return SyntheticRun(small_plan())


@pytest.mark.parametrize("samplerate_hz", [24_000_000, 84_000_000, 200_000_000])
@pytest.mark.parametrize("ppm", [-120, 0, 37])
def test_the_long_base_tells_the_clocks_apart(run: SyntheticRun, samplerate_hz: int, ppm: int) -> None:
    wire = read_wire(run.edges(samplerate_hz, ppm), CORE_HZ)
    fit = fit_counter(wire, parse(run.uart()).all(CalibrationRecord))
    assert fit is not None and wire.clock is not None
    assert abs(fit.ratio - (1 + ppm * 1e-6)) <= fit.ratio_uncertainty + 1e-12
    assert fit.ratio_uncertainty < 2 / (run.end_cycle * samplerate_hz / CORE_HZ)
    assert fit.ratio_uncertainty < wire.clock.ratio_uncertainty / 10
    assert fit.residual_max_samples < 1
    # Clocks in a whole ratio meet at the same phases again and again: the line may be a sample off.
    cycles = [truth.critical_start for truth in run.truths]
    samples = np.array([c * samplerate_hz * (1_000_000 + ppm) // (CORE_HZ * 1_000_000) for c in cycles])
    error_samples = (fit.cycles_at(samples) - (np.array(cycles) + COUNTER_AHEAD)) * samplerate_hz / CORE_HZ
    assert np.abs(error_samples).max() < 1


@pytest.mark.parametrize("ppm", [-120, 37])
def test_a_counter_that_wraps_many_times_is_followed(ppm: int) -> None:
    """In ten minutes CYCCNT goes round 11 times, and 24 MS/s give more than 2**33 samples."""
    run = SyntheticRun(small_plan(depth=2), idle_cycles=600 * CORE_HZ)
    edges = run.edges(24_000_000, ppm)
    tools = ToolReport(asked_samples=edges.total_samples)
    evidence = decode(run.plan, tools, edges, run.uart(), asked=AskedFirmware(allocator="tlsf"))
    assert judge(evidence) == ("complete", ())
    fit, ticks = evidence.joined.counter, evidence.joined.ticks
    assert fit is not None and ticks is not None
    assert abs(fit.ratio - (1 + ppm * 1e-6)) <= fit.ratio_uncertainty < 2 / edges.total_samples
    seen = np.array([stimulus for stimulus, _ in run.stimuli])
    phases = ticks.phase_cycles(seen * 24 * (1_000_000 + ppm) // (84 * 1_000_000))
    apart = (phases - (seen - run.first_tick) + TICK_PERIOD / 2) % TICK_PERIOD - TICK_PERIOD / 2
    assert np.abs(apart).max() < 2 * 84 / 24 + 4


def test_the_residual_is_the_farthest_that_an_edge_lies_from_the_line() -> None:
    """One edge of 64 comes five samples late; numpy fits the line a second time."""
    run = SyntheticRun(small_plan())
    records = parse(run.uart()).all(CalibrationRecord)
    rises = [record.begin_cycles - COUNTER_AHEAD for record in records]
    late = rises[5] % COUNTER_CYCLES
    run.move("CRIT", late, 5)
    fit = fit_counter(read_wire(run.edges(), CORE_HZ), records)
    cycles = np.array(rises, dtype=np.float64) % COUNTER_CYCLES
    samples = cycles + np.where(np.arange(len(rises)) == 5, 5, 0)
    apart = np.abs(samples - np.polyval(np.polyfit(cycles, samples, 1), cycles))
    assert fit is not None and 4 < apart.max() < 5 and apart.min() < 1
    assert fit.residual_max_samples == pytest.approx(apart.max(), abs=1e-3)


def test_a_counter_that_goes_as_fast_as_the_tolerance_lets_it_still_counts_the_core() -> None:
    """By the wire a cycle of it lasts 4.9 % or 5.1 % more or less than it should."""
    run = SyntheticRun(small_plan())
    wire = read_wire(run.edges(), CORE_HZ)
    records = parse(run.uart()).all(CalibrationRecord)
    for share, counts_core in ((0.049, True), (0.051, False), (-0.049, True), (-0.051, False)):
        altered = [
            replace(
                record,
                begin_cycles=int((record.begin_cycles - COUNTER_AHEAD) % COUNTER_CYCLES / (1 + share)),
            )
            for record in records
        ]
        assert (fit_counter(wire, altered) is not None) is counts_core, share


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
