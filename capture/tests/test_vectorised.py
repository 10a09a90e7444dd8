"""Waits against a slow twin that goes from event to event, and against sums by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from capture.reading.vectorised import PulseTrain, Windows, pulses, waits
from capture.tests.waveform import Waveform


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
