"""A wire that is read in parts, beside the same wire read at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import CHANNELS, EdgeList
from capture.reading.counter import WireCounter
from capture.reading.observed import ANSWERED, PULSED, named, read_observed
from capture.reading.vectorised import Stimuli, pulses, waits_for

WHICH: tuple[Stimuli, ...] = ("both", "rising", "falling")


@st.composite
def captures(draw: st.DrawFn) -> EdgeList:
    """Any words at any places: every coincidence of edges that a row can have."""
    count = draw(st.integers(0, 150))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    widest = draw(st.sampled_from([1, 3, 200]))
    sample = np.concatenate((np.zeros(1, np.int64), np.cumsum(random.integers(1, widest + 1, count))))
    flips = random.integers(1, 256, count + 1)
    if draw(st.booleans()):
        flips = 1 << random.integers(0, 8, count + 1)
    flips[0] = draw(st.integers(0, 255))
    word = np.bitwise_xor.accumulate(flips).astype(np.uint8)
    channels = CHANNELS if draw(st.booleans()) else ("CRIT", "STIM", "ISR")
    if channels != CHANNELS:
        word = (word & 7).astype(np.uint8)
        array = np.append(True, word[1:] != word[:-1])
        sample, word = sample[array], word[array]
    return EdgeList(sample, word, 24_000_000, int(sample[-1]) + draw(st.integers(1, 300)), channels)


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
@given(captures(), ENDS, st.sampled_from(WHICH))
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
