"""Wire and timer tell of each latency, at the core clock to the cycle."""

from __future__ import annotations

import math
from collections import Counter

import polars as pl
import pytest

from capture.joining.evidence import Evidence
from capture.joining.latencies import LatencyWitness
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import (
    BIT,
    CORE_HZ,
    OPERATION_COST,
    READ_LATER,
    TASK_LATER,
    SyntheticRun,
    small_plan,
)
from tests.tables import table

# What a read takes varies by a cycle, and the wire is true to one.
SLACK_CYCLES = 1 + 1 / 2
# COST tells that a read of the timer takes 11 or 12 cycles.
READ_MOST_CYCLES = 12
CONTROL_PULSE = 40


@pytest.fixture
def run() -> SyntheticRun:
    return SyntheticRun(small_plan())


def witness(evidence: Evidence, key: str) -> LatencyWitness:
    return next(latency for latency in evidence.latencies if latency.of.kind == key)


def controls_met(run: SyntheticRun) -> list[int]:
    """The operation of each control interrupt that met one."""
    return [seq for _, answer in run.controls if (seq := run.met(answer)) is not None]


def answer_at(run: SyntheticRun, rise: int) -> None:
    """Adds a rise of ISR, and 20 cycles before it a stimulus that it answers."""
    run.toggles.append((rise - 20, BIT["STIM"]))
    run.pulse("ISR", rise, 1)


def add_control_ticks(run: SyntheticRun, more: int) -> None:
    """The timer tells `more` ticks of a control interrupt that was alone in its operation."""
    alone = next(seq for seq, count in Counter(controls_met(run)).items() if count == 1)
    at = run.line_of(f"IRQ,{alone},")
    *rest, ticks = run.lines[at].split(",")
    run.lines[at] = ",".join([*rest, str(int(ticks) + more)])


@table
def test_the_offset_is_that_of_the_answers_within_twice_the_slack(
    run: SyntheticRun, more: int, explained: bool
) -> None:
    add_control_ticks(run, more)
    offset = witness(evidence_of(run), "control").offset
    operations = len(set(controls_met(run)))
    assert offset is not None
    assert offset.cycles == pytest.approx(READ_LATER)
    assert offset.n == operations - (not explained)


def test_many_answers_tell_the_offset_better_than_the_bounds_of_each(run: SyntheticRun) -> None:
    for key in ("isr", "task", "control"):
        offset = witness(evidence_of(run), key).offset
        assert offset is not None and offset.n > 9
        assert offset.uncertainty_cycles == pytest.approx(3 * SLACK_CYCLES / math.sqrt(offset.n))
    few = witness(evidence_of(SyntheticRun(small_plan(depth=1))), "control").offset
    assert few is not None and few.n <= 4
    assert few.uncertainty_cycles == pytest.approx(SLACK_CYCLES)


def test_the_read_comes_after_the_rise_and_no_later_than_cost_says(run: SyntheticRun) -> None:
    """The analyzer is a sample late, and each of two channels may be."""
    for latency in evidence_of(run).latencies:
        assert latency.offset_bounds_cycles == (-2, READ_MOST_CYCLES + 2)


def test_between_operations_the_ends_are_known_as_well_as_one_answer(run: SyntheticRun) -> None:
    control = witness(evidence_of(run), "control")
    assert (
        control.offset is not None and control.between_least is not None and control.between_most is not None
    )
    late = 15 + READ_LATER
    slack = SLACK_CYCLES + control.offset.uncertainty_cycles
    # The frames' clock is uncertain by parts in 100,000: of 15 cycles that is nothing.
    assert control.between_least == pytest.approx((late - slack, late + slack), abs=0.01)
    assert control.between_most == pytest.approx((late - slack, late + slack), abs=0.01)


def test_the_timer_tells_of_an_answer_that_met_its_operation_alone(run: SyntheticRun) -> None:
    interrupt = witness(evidence_of(run), "isr")
    met = [run.met(answer) for _, answer in run.stimuli]
    alone = together = 0
    for (stimulus, answer), seq in zip(run.stimuli, met, strict=True):
        if seq is not None and met.count(seq) == 1:
            alone += 1
            assert interrupt.cycles_of(answer) == pytest.approx(answer - stimulus)
        elif seq is not None:
            together += 1
            assert interrupt.cycles_of(answer) is None
        assert interrupt.cycles_of(answer + 1) is None
    assert alone > 10 and together > 1


@table
def test_an_answer_within_two_samples_of_an_edge_of_op_may_have_met_it(
    run: SyntheticRun, from_edge: int, of_end: bool, row: bool, met: bool, missed: bool
) -> None:
    truth = run.truths[6]
    edge = truth.start + (truth.operation_cycles + OPERATION_COST if of_end else 0)
    answer_at(run, edge + from_edge)
    answers = witness(evidence_of(run), "isr").answers
    (answer,) = answers.filter(pl.col("sample") == edge + from_edge).select("row", "met", "missed").rows()
    assert answer == (6 if row else -1, met, missed)


@table
def test_a_control_interrupt_right_behind_a_rise_may_have_come_before_the_read(
    run: SyntheticRun, cycles_per_sample: int, behind: int, came_between: bool
) -> None:
    """Its pulse, and 60 cycles for entry and return, may be in what the timer tells."""
    controls = [answer for _, answer in run.controls]
    stimulus, answer = next(
        pair for pair in run.stimuli[5:] if all(abs(pair[1] - control) > 500 for control in controls)
    )
    run.pulse("CISR", answer + behind, CONTROL_PULSE)
    evidence = evidence_of(run, CORE_HZ // cycles_per_sample)
    for key, later, more in (("isr", 0, CONTROL_PULSE + 60 if came_between else 0), ("task", TASK_LATER, 0)):
        answers = witness(evidence, key).answers
        sample, rise = stimulus // cycles_per_sample, (answer + later) // cycles_per_sample
        (ends,) = answers.filter(pl.col("sample") == rise).select("least", "most").rows()
        assert ends == (rise - sample, rise - sample + more // cycles_per_sample)


@table
def test_a_rise_is_an_answer_only_behind_a_stimulus(run: SyntheticRun, behind: int, is_answer: bool) -> None:
    rise = run.stimuli[0][0] + behind
    run.pulse("ISR", rise, 1)
    assert (rise in witness(evidence_of(run), "isr").answers["sample"]) is is_answer
