"""Windows that are kept as a capture passes, beside keeping all of it and picking then."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import EdgeList
from base.run_folder.kept import LAST, Window
from capture.reading.counter import WireCounter
from capture.reading.observed import read_observed
from capture.reading.tests.test_counter import ENDS, captures, parts
from capture.reading.worst import WorstWindows


def kept(edges: EdgeList, ends: list[int], worst: int, around: int, recent: int = 1 << 20) -> list[Window]:
    counter, windows = WireCounter(), WorstWindows(worst, around, recent)
    for part in parts(edges, ends):
        spans = counter.add(part)
        windows.add(part, spans, [*counter.since.values(), *counter.waiting.values()])
    nothing = NewEdges(
        np.empty(0, np.int64),
        np.empty(0, np.uint8),
        edges.samplerate_hz,
        edges.total_samples,
        edges.total_samples,
        edges.channels,
    )
    return list(windows.windows(nothing))


def longest(edges: EdgeList, worst: int) -> dict[str, list[tuple[int, int]]]:
    """Begin and end of the longest of each, from the whole capture, one after the other."""
    wire = read_observed(edges, framed=False)
    spans = {name: list(zip(train.start, train.end, strict=True)) for name, train in wire.program.items()}
    for pair, waits in wire.answers.items():
        spans[" to ".join(pair)] = list(zip(waits.stimulus, waits.answer, strict=True))
    return {name: sorted(some, key=lambda span: span[0] - span[1])[:worst] for name, some in spans.items()}


def levels(edges: EdgeList, begin: int, until: int) -> list[int]:
    """The word at each sample."""
    every = np.repeat(edges.word, np.diff(edges.sample, append=edges.total_samples))
    result: list[int] = every[begin:until].tolist()
    return result


@settings(deadline=None, max_examples=150)
@given(captures(), ENDS, st.integers(1, 4), st.sampled_from([0, 1, 7, 500]))
def test_the_windows_are_those_that_are_picked_afterwards(
    edges: EdgeList, ends: list[int], worst: int, around: int
) -> None:
    windows = kept(edges, ends, worst, around)
    picked = longest(edges, worst)
    for name, spans in picked.items():
        mine = [window.place for window in windows if window.place.of == name]
        assert [(place.start, place.end) for place in mine] == spans
        assert [place.rank for place in mine] == list(range(1, len(spans) + 1))
    for place, rows in ((window.place, window.edges) for window in windows):
        assert place.begin == max(place.start - around, 0) and not place.cut
        assert place.until == min(place.end + around, edges.total_samples)
        assert levels(rows, 0, rows.total_samples) == levels(edges, place.begin, place.until)
    assert sum(map(len, picked.values())) + 1 == len(windows)
    assert windows[-1].place.name == LAST


def test_of_two_of_one_length_the_first_stays() -> None:
    sample = np.array([0, 10, 20, 30, 40, 50, 60])
    edges = EdgeList(sample, np.arange(7, dtype=np.uint8) % 2, 1000, 100, ("CRIT",))
    for ends in ([], [25, 45]):
        assert [window.place.start for window in kept(edges, ends, 2, 1)[:2]] == [10, 30]


@pytest.mark.parametrize("recent", [40, 400])
def test_a_window_with_too_many_rows_begins_later_and_says_so(recent: int) -> None:
    """CRIT is high from sample 5 to 2005 while OP toggles at each."""
    toggles = np.arange(6, 2005)
    sample = np.concatenate(([0, 5], toggles, [2005, 2050]))
    word = np.concatenate(([0, 1], 1 | ((toggles + 1) % 2 << 1), [0, 2]))
    edges = EdgeList(sample, word.astype(np.uint8), 1000, 3000, ("CRIT", "OP"))
    ends = list(range(0, 3000, recent // 4))
    first = kept(edges, ends, 1, 100, recent)[0]
    assert (first.place.start, first.place.end, first.place.cut) == (5, 2005, True)
    assert 0 < first.edges.sample.size <= recent + recent // 4 + 2
    assert levels(first.edges, 0, first.edges.total_samples) == levels(
        edges, first.place.begin, first.place.until
    )
