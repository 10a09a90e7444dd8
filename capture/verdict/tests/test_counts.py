"""How many answers met an operation, where edges are too near to each other to tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from capture.reading.tests.waveform import Waveform
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, small_plan
from capture.verdict.counts import preempted_operations


@pytest.mark.parametrize(
    ("rise", "least_and_most"),
    [
        (97, (0, 0)),
        (98, (0, 1)),
        (102, (0, 1)),
        (103, (1, 1)),
        (197, (1, 1)),
        (198, (0, 1)),
        (202, (0, 1)),
        (203, (0, 0)),
    ],
)
def test_an_edge_within_two_samples_counts_either_way(rise: int, least_and_most: tuple[int, int]) -> None:
    """OP is high from sample 100 to 200, and ISR rises once."""
    wave = Waveform(1000)
    wave.pulse("OP", 100, 200)
    wave.pulse("ISR", rise, rise + 300)
    run = evidence_of(SyntheticRun(small_plan(depth=2))).wire
    wire = replace(run, until_end=wave.edges(), start_frame=None)
    assert preempted_operations(wire) == least_and_most
