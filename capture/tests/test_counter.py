"""A wire that is read in parts, beside the same wire read at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import CHANNELS, EdgeList
from base.run_folder.kept import LAST, Window
from capture.acquisition.keeper import WorstWindows
from capture.reading.counter import Growing, WireCounter
from capture.reading.observed import ANSWERED, PULSED, named, read_observed
from capture.reading.vectorised import Stimuli, pulses, waits_for
from capture.tests.waveform import Waveform, captures
from tests.tables import beside

WHICH: tuple[Stimuli, ...] = ("both", "rising", "falling")


CAPTURES = captures(150, 24_000_000, ("CRIT", "STIM", "ISR"))


def parts(edges: EdgeList, ends: list[int]) -> Iterator[NewEdges]:
    """The capture in parts that end before these samples, and its rest."""
    begin = 0
    for end in sorted({min(end, edges.total_samples) for end in ends if end} | {edges.total_samples}):
        first, after = np.searchsorted(edges.sample, (begin, end))
        rows = slice(int(first), int(after))
        yield NewEdges(edges.sample[rows], edges.word[rows], edges.samplerate_hz, begin, end, edges.channels)
        begin = end


ENDS = st.lists(st.integers(1, 5000), max_size=12)


@settings(deadline=None)
@given(CAPTURES, ENDS, st.sampled_from(WHICH))
def test_all_that_one_look_finds_is_found_in_parts(edges: EdgeList, ends: list[int], which: Stimuli) -> None:
    counter = WireCounter(which)
    spans_by_name: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for part in parts(edges, ends):
        for kind, name, start, end in counter.add(part):
            spans_by_name[kind, name] += zip(start.tolist(), end.tolist(), strict=True)
    for name in set(PULSED) & set(edges.channels):
        train = pulses(edges, name)
        assert spans_by_name["width", name] == list(
            zip(train.start.tolist(), train.end.tolist(), strict=True)
        )
        begins = train.start.tolist()
        assert spans_by_name["interval", name] == list(pairwise(begins))
    for pair in ANSWERED:
        if set(pair) <= set(edges.channels):
            waits = waits_for(edges, *pair, which=which)
            spans = zip(waits.stimulus.tolist(), waits.answer.tolist(), strict=True)
            assert spans_by_name["latency", named(pair)] == list(spans)
            assert counter.waiting.get(named(pair)) == (waits.open.since if waits.open else None)
    assert counter.merged == read_observed(edges, which, framed=False).merged


def kept_windows(
    edges: EdgeList, ends: list[int], worst: int, around: int, recent: int = 1 << 20
) -> list[Window]:
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
    spans = {name.removesuffix(", width"): list(zip(*ends, strict=True)) for name, ends in wire.spans.items()}
    return {name: sorted(some, key=lambda span: span[0] - span[1])[:worst] for name, some in spans.items()}


def levels(edges: EdgeList, begin: int, until: int) -> list[int]:
    """The word at each sample."""
    every = np.repeat(edges.word, np.diff(edges.sample, append=edges.total_samples))
    result: list[int] = every[begin:until].tolist()
    return result


@settings(deadline=None, max_examples=150)
@given(CAPTURES, ENDS, st.integers(1, 4), st.sampled_from([0, 1, 7, 500]))
def test_the_windows_are_those_that_are_picked_afterwards(
    edges: EdgeList, ends: list[int], worst: int, around: int
) -> None:
    windows = kept_windows(edges, ends, worst, around)
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


HZ = 1_000_000  # a sample is 1,000 ns


def followed(sample: list[int], word: list[int], cuts: list[int]) -> Growing:
    """What was counted, where the rows came in blocks that end at `cuts`."""
    result, begin = Growing(), 0
    for first, after in zip([0, *cuts], [*cuts, len(sample)], strict=True):
        total = sample[after] if after < len(sample) else sample[-1] + 1
        rows = np.array(sample[first:after]), np.array(word[first:after], np.uint8)
        result.add(NewEdges(*rows, HZ, begin, total, CHANNELS))
        begin = total
    return result


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_calibration_and_common_pulses_are_left_out(step: int) -> None:
    """Of CRIT only the pulses of 3 and 5 ms are the program's; those of 90, 40 and 70 are not."""
    wave, run = Waveform(20_000, HZ), beside(__file__)["run"]
    for begin in (0, 10_000):  # the board was reset: the run is what follows
        for channel, at, width in run["pulses"]:
            wave.pulse(channel, begin + at, begin + at + width)
        for channel, at in run["edges"]:
            wave.toggle(channel, begin + at)
        for at, spacing in run["trains"]:
            wave.toggle("SYNC", *(begin + at + spacing * edge for edge in range(64)))
    edges = wave.edges()
    sample = edges.sample.tolist()
    cuts = list(range(step, len(sample), step))
    result = followed(sample, edges.word.tolist(), cuts)
    widths, waits = result.widths_ns(), result.latencies_ns()["STIM to ISR"]
    assert (widths["CRIT"].n, widths["CRIT"].max) == (2, 5_000)
    assert (widths["ISR"].n, widths["ISR"].max) == (2, 1_000)
    assert (waits.n, waits.max) == (2, 6_000)
