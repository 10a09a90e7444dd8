"""What is planted in a capture, held against the same done to every single sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.run_folder.edges import CHANNELS, EdgeList
from quality.faults import wire
from quality.faults.planting import Fault, Healthy

TOTAL = 60
Dense = npt.NDArray[np.uint8]


def dense(edges: EdgeList) -> Dense:
    """The word of every sample: uint8[total]."""
    return np.repeat(edges.word, np.diff(np.append(edges.sample, edges.total_samples)))


def sparse(words: Dense) -> EdgeList:
    """The edge list of the words of every sample."""
    rows = [0, *(at for at in range(1, len(words)) if words[at] != words[at - 1])]
    return EdgeList(np.array(rows), words[rows], 1_000, len(words))


CAPTURES = st.lists(st.sampled_from([0, 1, 2, 3]), min_size=TOTAL, max_size=TOTAL).map(
    lambda words: np.array(words, dtype=np.uint8)
)


@given(CAPTURES, st.integers(0, TOTAL - 1), st.integers(1, TOTAL))
def test_an_inserted_sample_is_repeated_and_the_last_are_lost(words: Dense, at: int, count: int) -> None:
    expected = np.insert(words, at, [words[at]] * count)[:TOTAL]
    assert wire.insert_samples(sparse(words), at, count) == sparse(expected)


@given(CAPTURES, st.data())
def test_deleted_samples_are_gone_and_the_last_is_repeated(words: Dense, data: Any) -> None:
    at = data.draw(st.integers(0, TOTAL - 2))
    count = data.draw(st.integers(1, TOTAL - 1 - at))
    rest = np.delete(words, slice(at, at + count))
    expected = np.append(rest, [rest[-1]] * count).astype(np.uint8)
    assert wire.delete_samples(sparse(words), at, count) == sparse(expected)


@given(CAPTURES, st.integers(0, 3), st.integers(0, TOTAL), st.integers(0, TOTAL))
def test_flipped_samples_are_inverted(words: Dense, bits: int, one: int, other: int) -> None:
    begin, end = sorted((one, other))
    expected = words.copy()
    expected[begin:end] ^= bits
    assert wire.flip(sparse(words), bits, begin, end) == sparse(expected)


@given(CAPTURES, st.integers(-3, 3), st.integers(1, TOTAL - 2), st.integers(1, TOTAL - 2))
def test_a_shifted_channel_is_where_its_own_samples_are(words: Dense, by: int, one: int, other: int) -> None:
    """Each edge of channel 1 within is moved; one that meets another goes with it."""
    first, last = sorted((one, other))
    edges = sparse(words)
    level = words >> 1 & 1
    toggles = [at for at in range(1, TOTAL) if level[at] != level[at - 1]]
    moved = [at + by * (first < at < last) for at in toggles]
    expected = words & 0xFD | (level[0] << 1)
    for at in moved:
        if 0 < at < TOTAL:
            expected[at:] ^= 2
    if all(0 < at < TOTAL for at in moved):
        assert wire.shift(edges, CHANNELS[1], by, first, last) == sparse(expected)


def planted(run: Healthy, kind: str, number: int) -> EdgeList:
    return Fault(kind, number).plant(run, seed=3)[0].seen.edges


def edges_of(edges: EdgeList, channel: str) -> list[int]:
    samples: list[int] = edges.transitions(channel).sample.tolist()
    return samples


def others_alike(before: EdgeList, after: EdgeList, channel: str) -> bool:
    return all(edges_of(before, name) == edges_of(after, name) for name in CHANNELS if name != channel)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("channel", CHANNELS)
def test_one_edge_is_shifted_and_keeps_its_place_in_the_order(
    run: Healthy, channel: str, number: int
) -> None:
    before, after = run.stored.seen.edges, planted(run, f"shifted_edge.{channel}", number)
    before_samples, after_samples = edges_of(before, channel), edges_of(after, channel)
    moved = [
        abs(ours - other) for ours, other in zip(before_samples, after_samples, strict=True) if ours != other
    ]
    assert len(moved) == 1
    assert 1 <= moved[0] <= wire.MOVED_SAMPLES
    assert others_alike(before, after, channel)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("channel", CHANNELS)
def test_a_lost_pulse_takes_two_edges_in_sequence(run: Healthy, channel: str, number: int) -> None:
    before, after = run.stored.seen.edges, planted(run, f"lost_pulse.{channel}", number)
    before_samples, after_samples = edges_of(before, channel), edges_of(after, channel)
    gone = [index for index, edge in enumerate(before_samples) if edge not in set(after_samples)]
    assert len(gone) == 2
    assert gone[1] == gone[0] + 1
    assert set(after_samples) < set(before_samples)
    assert others_alike(before, after, channel)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("channel", CHANNELS)
def test_an_extra_pulse_adds_two_edges_in_sequence(run: Healthy, channel: str, number: int) -> None:
    before, after = run.stored.seen.edges, planted(run, f"extra_pulse.{channel}", number)
    before_samples, after_samples = edges_of(before, channel), edges_of(after, channel)
    new = [index for index, edge in enumerate(after_samples) if edge not in set(before_samples)]
    assert len(new) == 2
    assert new[1] == new[0] + 1
    assert set(before_samples) < set(after_samples)
    assert others_alike(before, after, channel)


@pytest.mark.parametrize("number", range(6))
def test_few_samples_are_flipped(run: Healthy, number: int) -> None:
    before, after = dense(run.stored.seen.edges), dense(planted(run, "flipped_samples", number))
    wrong = np.flatnonzero(before != after)
    assert 1 <= len(wrong) <= wire.FLIPPED_SAMPLES
    assert np.ptp(wrong) == len(wrong) - 1
    assert set(before[wrong] ^ after[wrong]) <= {1 << bit for bit in range(8)}


@pytest.mark.parametrize("number", range(6))
def test_a_burst_is_short(run: Healthy, number: int) -> None:
    wrong = np.flatnonzero(dense(run.stored.seen.edges) != dense(planted(run, "noise_burst", number)))
    assert 1 <= len(wrong) <= wire.BURST_FLIPS
    assert np.ptp(wrong) < wire.BURST_SAMPLES


@pytest.mark.parametrize("kind", ["inserted_samples", "deleted_samples"])
@pytest.mark.parametrize("number", range(6))
def test_samples_slip_within_the_run_and_the_total_stays(run: Healthy, kind: str, number: int) -> None:
    before, after = run.stored.seen.edges, planted(run, kind, number)
    assert after.total_samples == before.total_samples
    assert after != before
    first = np.flatnonzero(dense(before) != dense(after))[0]
    assert before.sample[1] <= first <= before.sample[-1] + 1


@given(CAPTURES, st.integers(2, 4))
def test_held_samples_are_those_of_a_slower_analyzer(words: Dense, times: int) -> None:
    expected = np.repeat(words[::times], times)[:TOTAL]
    assert wire.hold(sparse(words), times) == sparse(expected)


@pytest.mark.parametrize("number", range(6))
def test_one_of_two_neighbours_is_a_sample_off(run: Healthy, number: int) -> None:
    before, after = run.stored.seen.edges, planted(run, "swapped_edges", number)
    (channel,) = [name for name in CHANNELS if edges_of(before, name) != edges_of(after, name)]
    old, new = edges_of(before, channel), edges_of(after, channel)
    assert [abs(ours - other) for ours, other in zip(old, new, strict=True) if ours != other] == [1]


@pytest.mark.parametrize("number", range(6))
def test_a_told_samplerate_leaves_the_edges(run: Healthy, number: int) -> None:
    before, after = run.stored.seen.edges, planted(run, "told_samplerate", number)
    assert (after.sample.tolist(), after.word.tolist()) == (before.sample.tolist(), before.word.tolist())
    assert 0 < abs(after.samplerate_hz / before.samplerate_hz - 1) <= 0.03


@pytest.mark.parametrize("number", range(6))
def test_edges_of_one_direction_are_a_sample_late(run: Healthy, number: int) -> None:
    before, after = run.stored.seen.edges, planted(run, "late_edges", number)
    late: dict[bool, set[int]] = {True: set(), False: set()}
    for name in CHANNELS:
        transitions, other = before.transitions(name), after.transitions(name)
        if len(transitions.sample):
            for level, by in zip(
                transitions.level.tolist(), (other.sample - transitions.sample).tolist(), strict=True
            ):
                late[level].add(by)
    assert 1 in late[True] | late[False]
    assert late[True] <= {0} or late[False] <= {0}
    assert late[True] | late[False] <= {0, 1}


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(("channel", "stimulus"), wire.STIMULUS_OF.items())
def test_a_slow_answer_comes_behind_the_next_stimulus(
    run: Healthy, channel: str, stimulus: str, number: int
) -> None:
    before, after = run.stored.seen.edges, planted(run, f"slow_answer.{channel}", number)
    assert others_alike(before, after, channel)
    before_set, after_set = (
        set(edges.transitions(channel).sample[edges.transitions(channel).level].tolist())
        for edges in (before, after)
    )
    (new,) = after_set - before_set
    gone = sorted(before_set - after_set)
    assert len(gone) in (1, 2)
    stimuli = edges_of(before, stimulus)
    assert any(gone[0] < at < new for at in stimuli)
    assert all(gone[0] < new < later for later in gone[1:])
