"""Windows that are kept as a capture passes, beside keeping all of it and picking then."""

from __future__ import annotations

import numpy as np
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
