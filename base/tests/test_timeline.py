"""Slices that are left out where there are too many; gzip of equal bytes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from base.timeline import Timeline

Slice = tuple[int, int]


def made(slices: list[Slice], most: int) -> Timeline:
    """A timeline of one track, times in µs."""
    timeline = Timeline(most)
    begin, end = ([1000 * slice_[at] for slice_ in slices] for at in (0, 1))
    timeline.slices("group", "track", begin, end, lambda number: (str(number), {}))
    return timeline


def test_the_shortest_slices_are_left_out_but_for_those_that_are_kept() -> None:
    spans = [(0, 1), (2, 4), (5, 6), (7, 10), (11, 13)]
    timeline = made(spans, 3)
    timeline.keep(5500, 7000)
    assert timeline.draw() == "The timeline leaves out 1 of 5 slices, shorter than 2.000 µs."
    slices = [event for event in timeline.document()["traceEvents"] if event["ph"] == "X"]
    assert [(event["name"], event["ts"], event["dur"]) for event in slices] == [
        ("1", 2, 2),
        ("2", 5, 1),
        ("3", 7, 3),
        ("4", 11, 2),
    ]
    assert made(spans, 5).draw() == ""


def test_a_name_that_ends_in_gz_is_compressed_to_equal_bytes(tmp_path: Path) -> None:
    spans = [(0, 1), (2, 3)]
    plain = made(spans, 9).write(tmp_path / "a.json").read_bytes()
    first = made(spans, 9).write(tmp_path / "a.json.gz").read_bytes()
    assert gzip.decompress(first) == plain and json.loads(plain)["traceEvents"]
    assert made(spans, 9).write(tmp_path / "b.json.gz").read_bytes() == first
    assert first[4:8] == bytes(4)  # no time in its header (RFC 1952, section 2.3)
