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
from quality.faults.series import Fault, Healthy

TOTAL = 60
NUMBERS = range(6)
Dense = npt.NDArray[np.uint8]


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


@pytest.mark.parametrize("channel", CHANNELS)
def test_one_edge_is_shifted_and_keeps_its_place_in_the_order(run: Healthy, channel: str) -> None:
    before = run.stored.seen.edges
    for number in range(3):
        after = planted(run, f"shifted_edge.{channel}", number)
        pairs = zip(edges_of(before, channel), edges_of(after, channel), strict=True)
        (moved,) = (abs(old - new) for old, new in pairs if old != new)
        assert 1 <= moved <= wire.MOVED_SAMPLES
        assert others_alike(before, after, channel)


@given(CAPTURES, st.integers(2, 4))
def test_held_samples_are_those_of_a_slower_analyzer(words: Dense, times: int) -> None:
    expected = np.repeat(words[::times], times)[:TOTAL]
    assert wire.hold(sparse(words), times) == sparse(expected)


@pytest.mark.parametrize(("channel", "stimulus"), wire.STIMULUS_OF.items())
def test_a_slow_answer_comes_behind_the_next_stimulus(run: Healthy, channel: str, stimulus: str) -> None:
    before = run.stored.seen.edges
    for number in NUMBERS:
        after = planted(run, f"slow_answer.{channel}", number)
        assert others_alike(before, after, channel)
        rises, later_rises = (
            set(edges.sample[edges.level].tolist())
            for edges in (before.transitions(channel), after.transitions(channel))
        )
        (new,) = later_rises - rises
        first, *others = sorted(rises - later_rises)
        assert len(others) <= 1 and all(new < later for later in others)
        assert any(first < at < new for at in edges_of(before, stimulus))
