"""A timer's line on the wire: kept by sound captures, left by every step that is planted in one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edges import EdgeList
from capture.instruments.timekeeping import steps
from capture.reading.wire import Wire, read_wire
from capture.tests.synthetic import CORE_HZ, SyntheticRun, small_plan

RUN = SyntheticRun(small_plan())
STIMULUS = RUN.plan.stimulus
FIRST, LAST = RUN.controls[20][0], RUN.controls[-20][0]
RATES_HZ = [24_000_000, 25_000_000, CORE_HZ, 100_000_000]


def wire_of(edges: EdgeList) -> Wire:
    return read_wire(edges, CORE_HZ)


def with_samples(edges: EdgeList, at: int, count: int) -> EdgeList:
    """The capture with `count` samples more before sample
    `at`; if negative, with as many less after it.
    """
    sample = edges.sample
    if count > 0:
        moved = sample + np.where(sample >= at, count, 0)
    else:
        moved = np.where(sample >= at - count, sample + count, np.minimum(sample, at))
    last = np.append(np.diff(moved) > 0, True)
    moved, word = moved[last], edges.word[last]
    changed = np.append(True, word[1:] != word[:-1])
    return EdgeList(moved[changed], word[changed], edges.samplerate_hz, edges.total_samples + count)


@pytest.mark.parametrize("samplerate_hz", RATES_HZ)
@pytest.mark.parametrize("ppm", [0, -50, 90])
def test_a_sound_capture_keeps_time(samplerate_hz: int, ppm: int) -> None:
    assert not list(steps(wire_of(RUN.edges(samplerate_hz, ppm)), STIMULUS))


@given(
    st.sampled_from(RATES_HZ),
    st.integers(FIRST, LAST),
    st.sampled_from([-1000, -3, -1, 1, 2, 700]),
    st.sampled_from([0, 37]),
)
@settings(max_examples=60)
def test_samples_too_many_or_too_few_are_found_where_they_are(
    samplerate_hz: int, cycle: int, count: int, ppm: int
) -> None:
    at = cycle * samplerate_hz // CORE_HZ
    edges = RUN.edges(samplerate_hz, ppm)
    changed = with_samples(edges, at, count)
    found_steps = {step.channel: step for step in steps(wire_of(changed), STIMULUS)}
    assert set(found_steps) == {"STIM", "CTRL"}
    period = STIMULUS.period_ticks * samplerate_hz / CORE_HZ
    assert abs(found_steps["STIM"].sample - at) <= 600 * period + abs(count)


@given(st.integers(20, len(RUN.stimuli) - 20), st.sampled_from([-4800, -60, -3, 3, 60, 2000]))
@settings(max_examples=40)
def test_one_edge_that_moved_is_found(number: int, cycles: int) -> None:
    moved = SyntheticRun(small_plan())
    moved.move("STIM", RUN.stimuli[number][0], cycles)
    found_steps = list(steps(wire_of(moved.edges()), STIMULUS))
    assert [step.channel for step in found_steps] == ["STIM"]
