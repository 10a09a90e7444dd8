"""The frames and the clock, and what belongs to the calibration of a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.run_folder.edges import MARKED_CHANNELS, EdgeList
from capture.reading.vectorised import PulseTrain, Windows, pulses, waits
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
    assert fit is not None
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


# Waits against a slow twin that goes from event to event, and against sums by hand.


def test_pulses_that_the_capture_cuts_off_are_left_out() -> None:
    wave = Waveform(100)
    wave.pulse("CRIT", 0, 7)
    wave.pulse("CRIT", 10, 11)
    wave.pulse("CRIT", 20, 50)
    wave.toggle("CRIT", 99)
    whole = pulses(wave.edges(), "CRIT")
    assert (whole.start.tolist(), whole.end.tolist()) == ([10, 20], [11, 50])


def test_a_width_is_from_rise_to_fall_and_a_windows_widths_are_added() -> None:
    """A pulse belongs to the window in which it rises, even where it falls in another."""
    train = PulseTrain(np.array([10, 60, 70, 99]), np.array([50, 61, 90, 130]))
    windows = Windows(np.array([0, 10, 70, 100]), np.array([10, 70, 100, 200]))
    assert train.width.tolist() == [40, 1, 20, 31]
    assert train.counts_in(windows).tolist() == [0, 2, 2, 0]
    assert train.widths_in(windows).tolist() == [0, 41, 51, 0]
    assert train.starting_within(60, 99).start.tolist() == [60, 70]


Span = tuple[int, int, int]

FIRST, SECOND, ANSWER, LATER = 100, 300, 350, 900


def answered_by(
    stimuli: list[int], answers: list[int], late: int = 0
) -> tuple[list[Span], Span | None, list[int]]:
    answered = waits(np.array(stimuli, np.int64), np.array(answers, np.int64), late)
    spans = zip(answered.stimulus.tolist(), answered.answer.tolist(), answered.merged.tolist(), strict=True)
    still = (answered.open.since, -1, answered.open.merged) if answered.open else None
    return list(spans), still, answered.unasked.tolist()


def slowly(stimuli: list[int], answers: list[int], late: int) -> tuple[list[Span], Span | None, list[int]]:
    """One pending bit, and what is known of the last answer's last stimulus."""
    events = sorted([(at, 0) for at in answers] + [(at, 1) for at in stimuli])
    spans: list[Span] = []
    unasked: list[int] = []
    pending: list[int] = []
    too_late: int | None = None
    for at, is_stimulus in events:
        if is_stimulus:
            pending.append(at)
            too_late = None
            continue
        if not pending and too_late is not None:
            since, answer, merged = spans.pop()
            spans.append((since, answer, merged - 1))
            pending = [too_late]
        if pending:
            spans.append((pending[0], at, len(pending) - 1))
        else:
            unasked.append(at)
        too_late = pending[-1] if len(pending) > 1 and at - pending[-1] <= late else None
        pending = []
    return spans, (pending[0], -1, len(pending) - 1) if pending else None, unasked


PLACES = st.lists(st.integers(0, 60), unique=True, max_size=25).map(sorted)


@given(PLACES, PLACES, st.integers(0, 60))
def test_all_at_once_it_is_what_one_event_after_the_other_gives(
    stimuli: list[int], answers: list[int], late: int
) -> None:
    assert answered_by(stimuli, answers, late) == slowly(stimuli, answers, late)


def test_a_wait_runs_from_the_first_stimulus_that_is_not_answered() -> None:
    assert answered_by([FIRST, SECOND], [ANSWER]) == ([(FIRST, ANSWER, 1)], None, [])
    assert answered_by([FIRST, SECOND, LATER], [ANSWER]) == ([(FIRST, ANSWER, 1)], (LATER, -1, 0), [])


def test_an_answer_at_the_sample_of_a_stimulus_is_to_the_one_before() -> None:
    assert answered_by([FIRST, ANSWER], [FIRST, ANSWER]) == ([(FIRST, ANSWER, 0)], (ANSWER, -1, 0), [FIRST])


def test_what_came_too_late_for_an_answer_waits_for_the_next() -> None:
    """Where no other answer follows before another stimulus, it was in time."""
    both = [(FIRST, ANSWER, 0), (SECOND, 500, 0)]
    assert answered_by([FIRST, SECOND], [ANSWER, 500], late=50) == (both, None, [])
    assert answered_by([FIRST, SECOND], [ANSWER, 500], late=49) == ([(FIRST, ANSWER, 1)], None, [500])
    in_time = [(FIRST, ANSWER, 1), (600, LATER, 0)]
    assert answered_by([FIRST, SECOND, 600], [ANSWER, LATER], late=50) == (in_time, None, [])
