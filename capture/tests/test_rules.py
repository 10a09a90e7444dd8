"""Single rules: answers before their cause, swept edges off their offset, how many answers met an
operation, and what keeps silent since another rule says what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, record, small_plan, small_sweep
from capture.tests.waveform import Waveform
from capture.verdict.records import account_does_not_follow, due, records_out_of_order
from capture.verdict.verdict import judge
from capture.verdict.wire import (
    preempted_operations,
    wire_and_dwt_disagree,
)
from scenarios.operations import Allocate, Call, Free, Mark
from tests.tables import table


def moved(run: SyntheticRun, channel: str, number: int, by_cycles: int) -> SyntheticRun:
    """The run with an edge of the channel elsewhere, counted among those of its stimuli's time."""
    edges = [cycle for cycle in run.edges_of(channel) if cycle >= run.stimuli[0][0]]
    run.move(channel, edges[number], by_cycles)
    return run


def test_a_task_that_wakes_before_its_interrupt_is_told() -> None:
    run = SyntheticRun(small_plan())
    stimulus, answer = run.stimuli[10]
    (rise,) = [cycle for cycle in run.edges_of("TASK") if answer < cycle < answer + 400]
    run.move("TASK", rise, stimulus - 1000 - rise)
    verdict, reasons = judge(evidence_of(run))
    assert verdict == "inconclusive"
    assert [reason for reason in reasons if "ISR shows nothing that it could answer (1 of" in reason], reasons


@pytest.mark.parametrize("samplerate_hz", [24_000_000, 84_000_000, 200_000_000])
@pytest.mark.parametrize("by_cycles", [-40, 40])
def test_a_swept_edge_off_its_offset_is_told(samplerate_hz: int, by_cycles: int) -> None:
    run = SyntheticRun(small_sweep())
    verdict, reasons = judge(evidence_of(moved(run, "STIM", 7, by_cycles), samplerate_hz))
    assert verdict == "inconclusive"
    mentions = [reason for reason in reasons if "samples off its offset from operation" in reason]
    assert len(mentions) == 1
    assert f"{40 * samplerate_hz / 84e6:.0f}"[:1] in mentions[0]


@table
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
    assert len(list(wire_and_dwt_disagree(long))) == 2 * told


def _without_end(run: SyntheticRun) -> bytes:
    return b"".join(record(line) for line in run.lines if not line.startswith("END,"))


def _failed(run: SyntheticRun) -> bytes:
    return record("FAIL,heap,1").join([_without_end(run), run.uart()[len(_without_end(run)) :]])


def _with_a_damaged_mark(run: SyntheticRun) -> bytes:
    mark = next(line for line in run.lines if line.startswith("MARK,"))
    return run.uart().replace(record(mark), b"@MARK,0*0000\n", 1)


def _with_a_gap(run: SyntheticRun) -> bytes:
    third = next(line for line in run.lines if line.startswith("OP,2,"))
    return run.uart().replace(record(third), b"", 1)


def _with_two_in_turn(run: SyntheticRun) -> bytes:
    first, second = (record(line) for line in run.lines if line.startswith(("CAL,OP,0,", "CAL,OP,1,")))
    return run.uart().replace(first + second, second + first, 1)


@pytest.mark.parametrize(
    ("told_by_another", "changed"),
    [
        (True, _without_end),
        (True, _failed),
        (True, _with_a_damaged_mark),
        (True, _with_a_gap),
        (False, _with_two_in_turn),
    ],
)
def test_what_another_rule_tells_is_not_told_twice(
    changed: Callable[[SyntheticRun], bytes], told_by_another: bool
) -> None:
    run = SyntheticRun(small_plan(depth=2))
    evidence = evidence_of(run, serial_bytes=changed(run))
    assert bool([*records_out_of_order(evidence)]) != told_by_another
    assert judge(evidence)[0] != "complete"


def test_an_operation_beyond_the_plan_ends_the_account() -> None:
    run = SyntheticRun(small_plan(depth=2))
    last = max(run.lines.index(line) for line in run.lines if line.startswith("OP,"))
    run.lines.insert(last + 1, f"OP,{len(run.truths)},A,8,100,200,1,7,999999")
    evidence = evidence_of(run)
    assert [*account_does_not_follow(evidence)] == []
    assert judge(evidence)[0] != "complete"


OPERATIONS = (
    Mark(0),
    Allocate(0, 50),
    Allocate(0, 1, retry=True, last_if_refused=True),
    Allocate(1, 60),
    Allocate(1, 1, retry=True, last_if_refused=True),
    Allocate(2, 70),
    Allocate(2, 1, retry=True, last_if_refused=True),
    Mark(1),
    Free(2),
    Free(1),
    Free(0),
    Allocate(3, 80, last_if_refused=True),
    Call("empty"),
)


def answers_due(kinds: str) -> list[tuple[str, int | None]]:
    """Of each operation in order; a dot stands for a missing record."""
    kind_by_seq = {seq: kind for seq, kind in enumerate(kinds) if kind != "."}
    return [(next_record.answers, next_record.size) for next_record in due(OPERATIONS, kind_by_seq)]


@table
def test_what_runs_follows_from_what_came_before(kinds: str, answers: str, freed: tuple[int, ...]) -> None:
    due_records = answers_due(kinds)
    assert [answer for answer, _ in due_records] == answers.split()
    assert tuple(size for _, size in due_records[6:9]) == freed


def test_behind_a_missing_record_nothing_is_claimed() -> None:
    due_records = answers_due("AS.SASFFFAK")
    assert [answer for answer, _ in due_records] == [
        *("AO", "S", "AO"),
        *("AOS", "AOS", "AOS"),
        *("FNE", "FNE", "FNE", "AOS", "K"),
    ]
    assert [size for _, size in due_records[6:9]] == [None] * 3
