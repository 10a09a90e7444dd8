"""How many answers met an operation, where edges are too near to each other to tell."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from capture.reading.tests.waveform import Waveform
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, small_plan
from capture.verdict.counts import (
    operations_and_dwt_disagree,
    preempted_operations,
    preempted_operations_differ,
)
from capture.verdict.inconclusive import wire_and_dwt_disagree


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


@pytest.mark.parametrize(("beyond", "told"), [(-0.01, False), (0.01, True)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_how_far_wire_and_dwt_may_differ_grows_with_the_length(beyond: float, told: bool, sign: int) -> None:
    """A sample, and the uncertainty of the clock over ten million cycles: some hundred."""
    evidence = evidence_of(SyntheticRun(small_plan(depth=2)))
    cycles, joined, clock = 10_000_000, evidence.joined, evidence.wire.clock
    assert clock is not None and joined.operation_cost is not None
    over_so_long = clock.ratio_uncertainty * cycles
    assert over_so_long > 50
    apart = sign * (1 + over_so_long + beyond)
    operations = joined.operations.with_columns(
        wire_operation_samples=pl.lit(cycles + joined.operation_cost.wire_minus_dwt_cycles + apart),
        dwt_operation_cycles=pl.lit(cycles),
        dwt_cycles=pl.lit(cycles),
        disagreement_cycles=pl.lit(apart),
    )
    long = replace(evidence, joined=replace(joined, operations=operations))
    assert bool(list(operations_and_dwt_disagree(long))) is told
    assert bool(list(wire_and_dwt_disagree(long))) is told


def test_counts_that_differ_are_told_as_a_number_or_as_a_range() -> None:
    run = SyntheticRun(small_plan(depth=2))
    stat = run.line_of("STAT")
    fields = run.lines[stat].split(",")
    met, fields[4] = int(fields[4]), "99"
    run.lines[stat] = ",".join(fields)
    (sentence,) = preempted_operations_differ(evidence_of(run))
    assert f"the wire shows {met}; check" in sentence
    run.pulse("ISR", run.truths[6].start - 1, 1)
    (sentence,) = preempted_operations_differ(evidence_of(run))
    assert f"the wire shows {met} to {met + 1}; check" in sentence
