"""Single rules: answers before their cause, swept edges off their offset, how many answers met an
operation, and what keeps silent since another rule says what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf, nextafter

import polars as pl
import pytest

from capture.instruments.calibration import MarkerCost
from capture.joining.evidence import Evidence
from capture.joining.latencies import LatencyWitness
from capture.reading.probes import Probes, Window
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, record, small_plan, small_sweep
from capture.tests.waveform import Waveform
from capture.verdict import instruments, records, wire
from capture.verdict.records import account_does_not_follow, due, records_out_of_order
from capture.verdict.verdict import judge
from capture.verdict.wire import (
    preempted_operations,
    wire_and_dwt_disagree,
)
from scenarios.operations import Allocate, Call, Free, Mark
from scenarios.stimulus import SWEEP_LEAD_TICKS
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


# Where a rule begins to speak: at its limit it is silent, the next number beyond it is told.


Rule = Callable[[Evidence], Iterator[str]]
Change = Callable[[Evidence, bool], Evidence]
"""Puts a number at the limit of a rule, or at the next one beyond it."""


@pytest.fixture(scope="module")
def sound() -> Evidence:
    return evidence_of(SyntheticRun(small_plan(depth=2)))


def tells(rule: Rule, evidence: Evidence) -> bool:
    return bool([*rule(evidence)])


def at(limit: float, beyond: bool) -> float:
    return nextafter(limit, inf) if beyond else limit


def with_operations(evidence: Evidence, **columns: pl.Expr) -> Evidence:
    table = evidence.joined.operations.with_columns(**columns)
    return replace(evidence, joined=replace(evidence.joined, operations=table))


def cost_of(evidence: Evidence) -> MarkerCost:
    cost = evidence.joined.operation_cost
    assert cost is not None
    return cost


def with_latencies(evidence: Evidence, moved: Callable[[LatencyWitness], LatencyWitness]) -> Evidence:
    changed = replace(evidence)
    changed.__dict__["latencies"] = tuple(map(moved, evidence.latencies))
    return changed


def wire_and_dwt_of_a_section(sound: Evidence, beyond: bool) -> Evidence:
    return with_operations(sound, disagreement_cycles=pl.lit(-at(sound.tolerance_cycles, beyond)))


def wire_and_dwt_of_an_operation(sound: Evidence, beyond: bool) -> Evidence:
    """Without a cost and without cycles the wire's width is the difference."""
    unfitted = replace(sound, wire=replace(sound.wire, clock=None))
    changed = with_operations(
        unfitted,
        wire_operation_samples=pl.lit(at(unfitted.agreement_cycles, beyond)),
        dwt_operation_cycles=pl.lit(0, pl.UInt32),
    )
    free = replace(cost_of(sound), wire_minus_dwt_cycles=0)
    return replace(changed, joined=replace(changed.joined, operation_cost=free))


def the_residual_of_a_markers_cost(sound: Evidence, beyond: bool) -> Evidence:
    uneven = replace(cost_of(sound), worst_residual_cycles=at(sound.tolerance_cycles, beyond))
    return replace(sound, joined=replace(sound.joined, operation_cost=uneven))


def the_clock_by_frames_and_by_dwt(sound: Evidence, beyond: bool) -> Evidence:
    clock, counter = sound.wire.clock, sound.joined.counter
    assert clock is not None and counter is not None
    counter = replace(counter, ratio=at(1 + 2**-11, beyond), ratio_uncertainty=2**-12)
    return replace(
        sound,
        wire=replace(sound.wire, clock=clock.model_copy(update={"ratio": 1.0, "ratio_uncertainty": 2**-12})),
        joined=replace(sound.joined, counter=counter),
    )


def a_frames_edge_and_a_steady_clock(sound: Evidence, beyond: bool) -> Evidence:
    clock = sound.wire.clock
    assert clock is not None
    unsteady = clock.model_copy(update={"residual_max_samples": at(instruments.STEADY_CLOCK_SAMPLES, beyond)})
    return replace(sound, wire=replace(sound.wire, clock=unsteady))


def a_cycle_of_a_section_that_is_unseen(sound: Evidence, beyond: bool) -> Evidence:
    return with_operations(
        sound, wire_critical_samples=pl.lit(None, pl.Int64), dwt_cycles=pl.lit(int(beyond), pl.UInt32)
    )


def the_way_from_a_pin_to_its_read(end: int) -> Change:
    def changed(sound: Evidence, beyond: bool) -> Evidence:
        def moved(witness: LatencyWitness) -> LatencyWitness:
            assert witness.offset is not None and witness.offset_bounds_cycles is not None
            limit = witness.offset_bounds_cycles[end]
            outside = nextafter(limit, inf if end else -inf) if beyond else limit
            return replace(witness, offset=replace(witness.offset, cycles=outside))

        return with_latencies(sound, moved)

    return changed


def wire_and_timer_of_an_operation(sound: Evidence, beyond: bool) -> Evidence:
    apart = {"seq": [1], "apart_cycles": [-at(2.0, beyond)], "allowed_cycles": [2.0]}
    return with_latencies(sound, lambda witness: replace(witness, operations=pl.DataFrame(apart)))


def the_extremes_between_operations(least: float, most: float) -> Change:
    """The least latency is allowed from `least` to `most` more than the timer tells."""

    def changed(sound: Evidence, beyond: bool) -> Evidence:
        def moved(witness: LatencyWitness) -> LatencyWitness:
            assert witness.between is not None
            below, above = (witness.between.least_ticks + limit for limit in (least, most))
            if beyond:
                below, above = nextafter(below, inf), nextafter(above, -inf)
            return replace(witness, between_least=(below, above))

        return with_latencies(sound, moved)

    return changed


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        (wire.wire_and_dwt_disagree, wire_and_dwt_of_a_section),
        (wire.wire_and_dwt_disagree, wire_and_dwt_of_an_operation),
        (instruments.not_calibrated, the_residual_of_a_markers_cost),
        (instruments.counter_and_frames_disagree, the_clock_by_frames_and_by_dwt),
        (instruments.unsteady_clock, a_frames_edge_and_a_steady_clock),
        (wire.another_number_of_sections, a_cycle_of_a_section_that_is_unseen),
        (wire.timer_offset_is_no_distance, the_way_from_a_pin_to_its_read(0)),
        (wire.timer_offset_is_no_distance, the_way_from_a_pin_to_its_read(1)),
        (wire.wire_and_timer_disagree, wire_and_timer_of_an_operation),
        (wire.latencies_between_operations_differ, the_extremes_between_operations(0.0, 1.0)),
        (wire.latencies_between_operations_differ, the_extremes_between_operations(-1.0, 0.0)),
    ],
)
def test_at_its_limit_a_rule_is_silent_and_beyond_it_tells(
    sound: Evidence, rule: Rule, changed: Change
) -> None:
    assert [tells(rule, changed(sound, beyond)) for beyond in (False, True)] == [False, True]


def counted(evidence: Evidence, wider_by: dict[int, int]) -> Evidence:
    """The windows of a virtual board, all 7 cycles wider than the records say but for some."""
    widths = evidence.joined.operations.select("seq", "dwt_operation_cycles").rows()
    windows = {seq: Window(1, cycles + wider_by.get(seq, 7)) for seq, cycles in widths}
    return replace(evidence, probes=Probes("counted by the virtual board", windows))


def test_windows_may_be_wider_than_their_records_by_one_constant(sound: Evidence) -> None:
    rule = records.counts_of_other_operations
    assert not tells(rule, counted(sound, {}))
    assert tells(rule, counted(sound, {3: 8}))


def test_a_window_without_a_record_or_a_call_has_no_width_to_compare() -> None:
    run = SyntheticRun(small_plan(depth=2))
    third = run.line_of("OP,3,")
    fields = run.lines[third].split(",")
    run.lines[third] = ",".join([*fields[:4], "0", "0", *fields[6:]])
    evidence = counted(evidence_of(run), {3: 9})
    beyond = {**evidence.probes.windows, 99: Window(1, 12)}
    changed = replace(evidence, probes=replace(evidence.probes, windows=beyond))
    assert not tells(records.counts_of_other_operations, changed)


@pytest.mark.parametrize("side", ["frame", "record"])
def test_one_end_that_is_missing_says_why_the_numbers_differ(side: str) -> None:
    run = SyntheticRun(small_plan(depth=2))
    if side == "frame":
        run.toggles = [(cycle, bit) for cycle, bit in run.toggles if cycle < run.truths[-1].start]
    else:
        run.lines = [line for line in run.lines if not line.startswith(("END", f"OP,{len(run.truths) - 1},"))]
    evidence = evidence_of(run)
    assert not tells(wire.windows_and_records_differ, evidence)
    evidence = with_latencies(evidence, lambda witness: replace(witness, between_least=(-2.0, -1.0)))
    assert not tells(wire.latencies_between_operations_differ, evidence)


@pytest.mark.parametrize("worst", [0, 5])
def test_the_worst_row_is_told(sound: Evidence, worst: int) -> None:
    apart = pl.when(pl.col("seq") == worst).then(-9.0).otherwise(8.0)
    (sentence,) = wire.wire_and_dwt_disagree(with_operations(sound, disagreement_cycles=apart))
    assert "at worst by -9.00 cycles" in sentence and f"in operation {worst};" in sentence


@pytest.mark.parametrize("lost", ["STIM", "SYNC"])
def test_offsets_are_compared_where_each_edge_has_its_operation(lost: str) -> None:
    run = SyntheticRun(small_sweep())
    first = next(cycle for cycle in run.edges_of(lost) if cycle >= run.truths[0].start)
    run.silence(lost, first, first)
    assert not tells(wire.swept_edges_off_their_offsets, evidence_of(run))


@pytest.mark.parametrize(("before", "told"), [(199, False), (201, True)])
@pytest.mark.parametrize("channel", ["ISR", "CISR"])
def test_what_held_up_sync_began_no_more_than_200_cycles_before(
    channel: str, before: int, told: bool
) -> None:
    """The one pulse ends so long before the timer's start; SYNC's edge came 40 cycles late."""
    run = SyntheticRun(small_sweep())
    swept = next(truth for truth in run.truths if truth.seq == 6)
    sync = max(cycle for cycle in run.edges_of("SYNC") if cycle <= swept.start)
    run.move("SYNC", sync, 40)
    edge = sync + 6 - SWEEP_LEAD_TICKS
    run.pulse(channel, edge - before - 30, 30)
    assert tells(wire.swept_edges_off_their_offsets, evidence_of(run)) is told


@pytest.mark.parametrize("channel", ["STIM", "ISR", "TASK", "CISR"])
def test_a_channel_that_is_late_but_not_in_the_calibration(channel: str) -> None:
    """A cycle or two pass, for calibration and timers tell no more; six do not."""
    for cycles, told in ((-6, True), (-2, False), (2, False), (6, True)):
        run = SyntheticRun(small_plan())
        run.delay_run({channel: cycles})
        assert tells(wire.channel_late_outside_the_calibration, evidence_of(run)) is told
