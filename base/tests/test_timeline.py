"""Slices folded by hand, and by a plain twin that looks at each pair; gzip of equal bytes."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from base.timeline import Timeline

Slice = tuple[int, int]


def made(slices: list[Slice], most: int, slices_before: Sequence[Slice] = ()) -> Timeline:
    """A timeline of one track, times in µs."""
    timeline_ = Timeline(most)
    begin, end = ([1000 * slice_[at] for slice_ in slices] for at in (0, 1))
    timeline_.slices("group", "track", begin, end, lambda number: (str(number), {}), label="held")
    for first, last in slices_before:
        timeline_.keep(1000 * first, 1000 * last)
    return timeline_


def drawn(timeline: Timeline) -> tuple[list[dict[str, Any]], list[str]]:
    """The slices of the track, times in whole µs, and the names of what is beside it."""
    events = timeline.document()["traceEvents"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X"]
    beside = [slice_["name"] for slice_ in slices if tracks[slice_["tid"]] != "track"]
    return [slice_ for slice_ in slices if tracks[slice_["tid"]] == "track"], beside


def test_short_slices_become_one_for_each_stretch_that_says_what_it_holds() -> None:
    """Stretches of 2 µs still leave 6 of 7 slices; those of 5 µs begin at 0, 5, 10 and 15."""
    spans = [(0, 1), (2, 4), (5, 6), (7, 8), (9, 10), (11, 13), (15, 16)]
    timeline = made(spans, 4)
    said = timeline.draw()
    slices, beside = drawn(timeline)
    assert [(slice_["name"], slice_["ts"], slice_["dur"], slice_["args"]) for slice_ in slices] == [
        ("2 × held", 0, 4, {"folded": 2, "longest_ns": 2000, "total_ns": 3000}),
        ("3 × held", 5, 5, {"folded": 3, "longest_ns": 1000, "total_ns": 3000}),
        ("5", 11, 2, {}),
        ("6", 15, 1, {}),
    ]
    assert beside == [said]
    assert said == (
        "5 of 7 slices are shorter than 5 µs and folded into 2: those of a track that begin within the same "
        "5 µs."
    )


def nested(chance: random.Random, begin: int, end: int, depth: int) -> list[Slice]:
    """Slices that lie within each other or apart."""
    spans, at = [], begin
    while at < end:
        first = at + chance.randrange(4)
        last = min(first + chance.choice([1, 1, 2, 3, 8, 40]), end)
        if first < last:
            spans.append((first, last))
            spans += nested(chance, first, last, depth - 1) if depth and chance.random() < 0.5 else []
        at = max(last, at) + chance.randrange(3)
    return spans


@pytest.mark.parametrize("seed", range(40))
def test_folded_slices_nest_and_none_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    spans = sorted(set(nested(chance, 0, 400, 2)))
    chance.shuffle(spans)
    apart = [(at, at + chance.randrange(1, 9)) for at in chance.sample(range(400), 4)]
    slices, _ = drawn(made(spans, 40, apart))
    alone = {int(slice_["name"]): slice_ for slice_ in slices if "folded" not in slice_["args"]}
    groups = [slice_ for slice_ in slices if "folded" in slice_["args"]]
    assert len(alone) + sum(group["args"]["folded"] for group in groups) == len(spans)
    for number, group in alone.items():
        assert (group["ts"], group["ts"] + group["dur"]) == spans[number]
    for number, (begin, end) in enumerate(spans):
        assert number in alone or not any(begin < last and first < end for first, last in apart)
    for pair in combinations([(slice_["ts"], slice_["ts"] + slice_["dur"]) for slice_ in slices], 2):
        (_, end), (begin, last) = sorted(pair, key=lambda span: (span[0], -span[1]))
        assert end <= begin or last <= end
    rest = [span for number, span in enumerate(spans) if number not in alone]
    for group in groups:
        begin, end = group["ts"], group["ts"] + group["dur"]
        within = [span for span in rest if begin <= span[0] and span[1] <= end]
        assert len(within) == group["args"]["folded"]
        assert 1000 * max(last - first for first, last in within) == group["args"]["longest_ns"]
        covered = {at for first, last in within for at in range(first, last)}
        assert 1000 * len(covered) == group["args"]["total_ns"]


def test_a_name_that_ends_in_gz_is_compressed_to_equal_bytes(tmp_path: Path) -> None:
    spans = [(0, 1), (2, 3)]
    plain = made(spans, 9).write(tmp_path / "a.json").read_bytes()
    first = made(spans, 9).write(tmp_path / "a.json.gz").read_bytes()
    assert gzip.decompress(first) == plain and json.loads(plain)["traceEvents"]
    assert made(spans, 9).write(tmp_path / "b.json.gz").read_bytes() == first
    assert first[4:8] == bytes(4)  # no time in its header (RFC 1952, section 2.3)
