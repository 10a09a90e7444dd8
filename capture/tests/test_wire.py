"""The frames and the clock, and what belongs to the calibration of a run."""

from __future__ import annotations

import pytest

from base.run_folder.edges import MARKED_CHANNELS, EdgeList
from capture.reading.wire import find_frames, fit_clock, read_wire
from capture.tests.synthetic import BIT, CORE_HZ, SyntheticRun, small_plan
from capture.tests.waveform import Waveform, frame_edges
from tests.tables import table


@pytest.mark.parametrize("with_operations", [True, False])
def test_pulses_within_the_start_frame_or_before_it_are_no_sections(with_operations: bool) -> None:
    run = SyntheticRun(small_plan(depth=2))
    sync = sorted(cycle for cycle, bit in run.toggles if bit == BIT["SYNC"])
    for channel in MARKED_CHANNELS:
        run.pulse(channel, sync[0] - 500, 5)
        run.pulse(channel, sync[62] + 100, 5)
    if not with_operations:
        cut = run.truths[0].start - 1000
        run.toggles = [toggle for toggle in run.toggles if toggle[0] < cut]
        run.end_cycle = cut
    calibration = read_wire(run.edges(), CORE_HZ).opening
    for channel in MARKED_CHANNELS:
        assert len(calibration.sections[channel]) == 16
        assert calibration.sections[channel].start[0] > sync[63]


TICK_HZ = 84_000_000


def sync(samples: list[int], total: int, samplerate_hz: int = TICK_HZ) -> EdgeList:
    return Waveform(total, samplerate_hz, {"SYNC": samples}).edges()


@pytest.mark.parametrize("samplerate_hz", [84_000_000, 24_000_000, 200_000_000, 12_000_000])
@pytest.mark.parametrize("error_ppm", [-50, 0, 30])
def test_frames_and_clock_are_found_at_any_rate(samplerate_hz: int, error_ppm: int) -> None:
    true_hz = samplerate_hz * (1 + error_ppm * 1e-6)
    start = frame_edges(0.0012345, 840, TICK_HZ, true_hz)
    operations = [start[-1] + 50_000 + 900 * n for n in range(37)]
    end = frame_edges(operations[-1] / true_hz + 0.0003, 1260, TICK_HZ, true_hz)
    last = [*operations, operations[-1] + 700]
    edges = sync([*start, *last, *end], end[-1] + 1000, samplerate_hz)
    frames = find_frames(edges, TICK_HZ)
    assert frames.start is not None and frames.start.tolist() == start
    assert frames.end is not None and frames.end.tolist() == end
    fit = fit_clock(frames.start, frames.end, TICK_HZ, samplerate_hz)
    # Each edge is seen up to one sample late. Over the 79,380 ticks of the end frame alone, least
    # squares turns that into less than one sample in the whole span.
    assert abs(fit.ratio - true_hz / samplerate_hz) < 1 / (79_380 * samplerate_hz / TICK_HZ)
    assert fit.residual_max_samples <= 1


def train(count: int, spacing: int, first: int = 5000) -> list[int]:
    return [first + n * spacing for n in range(count)]


@table
def test_only_64_edges_of_the_right_spacing_are_a_frame(
    count: int, spacing: int, others: tuple[int, ...], is_frame: bool
) -> None:
    samples = sorted([*train(count, spacing), *others])
    frames = find_frames(sync(samples, 200_000), TICK_HZ)
    assert (frames.start is not None) == is_frame
    assert frames.end is None


@pytest.mark.parametrize(("late", "is_frame"), [(1681, True), (1682, False)])
def test_an_edge_may_be_late_by_a_fiftieth_and_a_sample(late: int, is_frame: bool) -> None:
    """At 100 samples a tick the edges are 84,000 apart, and 1,681 is just that."""
    whole = train(64, 84_000)
    samples = [*whole[:30], *(sample + late for sample in whole[30:])]
    frames = find_frames(sync(samples, 6_000_000, 100_000_000), 1_000_000)
    assert (frames.start is not None) == is_frame


def test_after_a_reset_the_last_start_frame_counts() -> None:
    old, new = train(64, 840, 1000), train(64, 840, 500_000)
    early, late = train(64, 1260, 200_000), train(64, 1260, 700_000)
    frames = find_frames(sync([*old, *early, *new, *late], 1_000_000), TICK_HZ)
    assert frames.start is not None and frames.start[0] == 500_000
    assert frames.end is not None and frames.end[0] == 700_000
