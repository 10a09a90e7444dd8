import numpy as np
import pytest

from capture.instruments.clocks import COUNTER_CYCLES, fit_counter
from capture.reading.wire import read_wire
from capture.run_folder.records import CalibrationRecord, parse
from capture.tests.synthetic import CORE_HZ, COUNTER_AHEAD, SyntheticRun, small_plan


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
    # Two clocks in whole ratios meet at the same phases again and again: the line can lie a sample off.
    cycles = [truth.critical_start for truth in run.truths]
    samples = np.array([c * samplerate_hz * (1_000_000 + ppm) // (CORE_HZ * 1_000_000) for c in cycles])
    error_samples = (fit.cycles_at(samples) - (np.array(cycles) + COUNTER_AHEAD)) * samplerate_hz / CORE_HZ
    assert np.abs(error_samples).max() < 1


def test_the_counter_wraps_in_this_very_run(run: SyntheticRun) -> None:
    begins = [record.begin_cycles for record in parse(run.uart()).all(CalibrationRecord)]
    assert begins[0] > begins[-1]
    assert begins[-1] < run.end_cycle < COUNTER_CYCLES


def test_without_the_end_the_start_has_to_do(run: SyntheticRun) -> None:
    records = [record for record in parse(run.uart()).all(CalibrationRecord) if record.index < 16]
    fit = fit_counter(read_wire(run.edges(), CORE_HZ), records)
    assert fit is not None and fit.ratio == pytest.approx(1, abs=1e-9)
    assert fit_counter(read_wire(run.edges(), CORE_HZ), records[1:]) is None
