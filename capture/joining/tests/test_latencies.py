"""Wire and timer tell of each latency, at the core clock to the cycle."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from capture.joining.evidence import Evidence
from capture.joining.latencies import Answers, LatencyWitness, Offset, _between
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

# What a read takes varies by a cycle, and the wire is true to one.
SLACK_CYCLES = 1 + 1 / 2
# COST tells that a read of the timer takes 11 or 12 cycles.
READ_MOST_CYCLES = 12
CONTROL_PULSE = 40


@pytest.fixture
def run() -> SyntheticRun:
    return SyntheticRun(small_plan())


def witness(evidence: Evidence, key: str) -> LatencyWitness:
    return next(latency for latency in evidence.latencies if latency.of.told == key)


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


@pytest.mark.parametrize(("more", "explained"), [(0, True), (3, True), (-3, True), (4, False), (-4, False)])
def test_the_offset_is_that_of_the_answers_within_twice_the_slack(
    run: SyntheticRun, more: int, explained: bool
) -> None:
    add_control_ticks(run, more)
    offset = witness(evidence_of(run), "control").offset
    operations = len(set(controls_met(run)))
    assert offset is not None
    assert offset.cycles == pytest.approx(READ_LATER)
    assert offset.n == operations - (not explained)


def test_what_is_not_explained_by_the_offset_is_apart(run: SyntheticRun) -> None:
    add_control_ticks(run, -7)
    apart = witness(evidence_of(run), "control").compared["apart_cycles"]
    assert sorted(apart.to_list())[:2] == [pytest.approx(-7), pytest.approx(0)]
    assert max(apart.to_list()) == pytest.approx(0)


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


def test_of_those_that_met_none_the_timer_tells_of_the_latest(run: SyntheticRun) -> None:
    calm = [answer for _, answer in run.controls if run.met(answer) is None]
    late = calm[len(calm) // 2]
    run.move("CISR", late, 6)
    stat = run.line_of("STAT")
    *rest, _ = run.lines[stat].split(",")
    run.lines[stat] = ",".join([*rest, str(15 + 6 + READ_LATER)])
    control = witness(evidence_of(run), "control")
    assert control.cycles_of(late + 6) == pytest.approx(15 + 6)
    assert {control.cycles_of(answer) for answer in calm if answer != late} == {None}


def test_without_a_range_the_timer_tells_of_no_answer_between_operations(run: SyntheticRun) -> None:
    control = replace(witness(evidence_of(run), "control"), between=None)
    assert {control.cycles_of(answer) for _, answer in run.controls if run.met(answer) is None} == {None}


def test_of_an_answer_that_may_have_met_an_operation_the_timer_tells_nothing(run: SyntheticRun) -> None:
    rise = run.truths[6].start
    answer_at(run, rise)
    interrupt = witness(evidence_of(run), "isr")
    (at,) = np.flatnonzero(interrupt.answers.sample == rise)
    latest = interrupt.answers.most.copy()
    latest[at] = latest.max() + 1
    assert replace(interrupt, answers=replace(interrupt.answers, most=latest)).cycles_of(rise) is None


@pytest.mark.parametrize(
    ("from_edge", "of_end", "row", "met", "missed"),
    [
        (-3, False, False, False, True),
        (-2, False, True, False, False),
        (2, False, True, False, False),
        (3, False, True, True, False),
        (-3, True, True, True, False),
        (-2, True, True, False, False),
        (2, True, True, False, False),
        (3, True, False, False, True),
    ],
)
def test_an_answer_within_two_samples_of_an_edge_of_op_may_have_met_it(
    run: SyntheticRun, from_edge: int, of_end: bool, row: bool, met: bool, missed: bool
) -> None:
    truth = run.truths[6]
    edge = truth.start + (truth.operation_cycles + OPERATION_COST if of_end else 0)
    answer_at(run, edge + from_edge)
    answers = witness(evidence_of(run), "isr").answers
    (at,) = np.flatnonzero(answers.sample == edge + from_edge)
    assert (answers.row[at], answers.met[at], answers.missed[at]) == (6 if row else -1, met, missed)


@pytest.mark.parametrize(
    ("cycles_per_sample", "behind", "came_between"),
    [(1, 0, False), (1, 1, True), (1, 40, True), (1, 41, False), (2, 40, True), (2, 42, False)],
)
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
        (at,) = np.flatnonzero(answers.sample == rise)
        assert (answers.least[at], answers.most[at]) == (
            rise - sample,
            rise - sample + more // cycles_per_sample,
        )


@pytest.mark.parametrize(("behind", "is_answer"), [(-200, False), (0, False), (1, True)])
def test_a_rise_is_an_answer_only_behind_a_stimulus(run: SyntheticRun, behind: int, is_answer: bool) -> None:
    rise = run.stimuli[0][0] + behind
    run.pulse("ISR", rise, 1)
    assert (rise in witness(evidence_of(run), "isr").answers.sample) is is_answer


def test_what_waits_for_no_control_interrupt_is_not_held_up_by_one(run: SyntheticRun) -> None:
    stimulus, answer = run.stimuli[5]
    rise = answer + TASK_LATER
    run.pulse("CISR", rise + 5, CONTROL_PULSE)
    answers = witness(evidence_of(run), "task").answers
    (at,) = np.flatnonzero(answers.sample == rise)
    assert answers.most[at] == rise - stimulus


def test_a_run_without_control_interrupts_has_its_answers(run: SyntheticRun) -> None:
    run.toggles = [edge for edge in run.toggles if edge[1] != BIT["CISR"]]
    answers = witness(evidence_of(run), "isr").answers
    assert set(answers.sample.tolist()) >= {answer for _, answer in run.stimuli}
    assert (answers.most == answers.least).all()


def test_a_rise_together_with_the_last_control_interrupt_waits_for_none(run: SyntheticRun) -> None:
    rise = run.controls[-1][1]
    answer_at(run, rise)
    answers = witness(evidence_of(run), "isr").answers
    (at,) = np.flatnonzero(answers.sample == rise)
    assert answers.most[at] == answers.least[at] == 20


@pytest.mark.parametrize(("from_frame", "is_stimulus"), [(-1, False), (0, True)])
def test_what_comes_before_the_start_frame_is_no_stimulus(
    run: SyntheticRun, from_frame: int, is_stimulus: bool
) -> None:
    first = min(cycle for cycle, bit in run.toggles if bit == BIT["SYNC"]) + from_frame
    run.toggles += [(first, BIT["CTRL"]), (first + 2000, BIT["CTRL"])]
    run.pulse("CISR", first + 15, CONTROL_PULSE)
    assert (first + 15 in witness(evidence_of(run), "control").answers.sample) is is_stimulus


def test_operations_that_nothing_met_have_no_row(run: SyntheticRun) -> None:
    rows = witness(evidence_of(run), "control").operations["seq"].to_list()
    assert rows == sorted(set(controls_met(run)))
    assert 0 < len(rows) < len(run.truths)


def test_between_operations_the_clock_is_as_uncertain_as_the_longest_answer_is_long() -> None:
    """At 1 % a wait of 1,000 samples is 10 unsure, beside 1.5 of sample and offset."""
    sure, possible = np.array([True, False, True]), np.array([False, True, False])
    answers = Answers(
        sample=np.array([100, 3_000, 6_000]),
        least=np.array([20, 400, 1_000]),
        most=np.array([20, 400, 1_000]),
        row=np.where(possible, 0, -1),
        met=np.zeros(3, dtype=np.bool_),
        missed=sure,
    )
    instruments: Any = SimpleNamespace(clock_uncertainty=0.01)
    least, most = _between(answers, instruments, Offset(3.0, 0.5, 9), cycles=1.0, spread=0.0)
    assert least == pytest.approx((23 - 11.5, 23 + 11.5))
    assert most == pytest.approx((1_003 - 11.5, 1_003 + 11.5))
