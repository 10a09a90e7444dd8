"""Each rule is tried by planting its fault in a run that is complete without it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport
from capture.joining.evidence import decode
from capture.tests.evidence import ASKED, evidence_of
from capture.tests.synthetic import (
    BIT,
    CORE_HZ,
    TASK_LATER,
    SyntheticRun,
    record,
    small_plan,
    small_plan_under,
    small_sweep,
)
from capture.verdict.verdict import judge
from tests.tables import table

Fault = Callable[[SyntheticRun], None]


def edit(pattern: str, replacement: str) -> Fault:
    """Rewrites the first record that matches."""

    def fault(run: SyntheticRun) -> None:
        index = next(at for at, line in enumerate(run.lines) if re.search(pattern, line))
        run.lines[index] = re.sub(pattern, replacement, run.lines[index])

    return fault


def drop(prefix: str) -> Fault:
    def fault(run: SyntheticRun) -> None:
        run.lines = [line for line in run.lines if not line.startswith(prefix)]

    return fault


def cut_records_after(prefix: str) -> Fault:
    def fault(run: SyntheticRun) -> None:
        del run.lines[run.line_of(prefix) :]

    return fault


def swap(channel: str, other: str) -> Fault:
    """Two records come in each other's place."""

    def fault(run: SyntheticRun) -> None:
        first, second = run.line_of(channel), run.line_of(other)
        run.lines[first], run.lines[second] = run.lines[second], run.lines[first]

    return fault


def double(prefix: str) -> Fault:
    def fault(run: SyntheticRun) -> None:
        index = run.line_of(prefix)
        run.lines.insert(index, run.lines[index])

    return fault


def restart(run: SyntheticRun) -> None:
    run.lines.insert(40, run.lines[0])


def fail(run: SyntheticRun) -> None:
    run.lines[-1] = "FAIL,hardfault,134217728"


def without_frame(last: bool) -> Fault:
    def fault(run: SyntheticRun) -> None:
        sync = run.edges_of("SYNC")
        frame = sync[-64:] if last else sync[:64]
        run.silence("SYNC", frame[0], frame[-1])

    return fault


def without_one_op_pulse(run: SyntheticRun) -> None:
    run.silence("OP", run.truths[4].start, run.truths[4].start + 20_000)


def with_a_second_op_pulse(run: SyntheticRun) -> None:
    run.pulse("OP", run.truths[4].start + 15_000, 50)


def without_two_sync_edges(run: SyntheticRun) -> None:
    for truth in run.truths[10:12]:
        run.silence("SYNC", truth.start - 6, truth.start - 6)


def without_a_critical_section(run: SyntheticRun) -> None:
    truth = run.truths[4]
    run.silence("CRIT", truth.critical_start, truth.critical_start + truth.critical_cycles + 9)


def with_a_section_in_pieces(run: SyntheticRun) -> None:
    middle = run.truths[4].critical_start + 100
    run.toggles += [(middle, BIT["CRIT"]), (middle + 2, BIT["CRIT"])]


def without_a_calibration_pulse(channel: str, closing: bool) -> Fault:
    return lambda run: run.silence(channel, *calibration_edges(run, channel, closing)[:2])


def without_a_common_pulse(run: SyntheticRun) -> None:
    run.silence("TASK", *run.edges_of("TASK")[:2])


def calibration_edges(run: SyntheticRun, channel: str, closing: bool = False) -> list[int]:
    """The edges of the sections. Eight common pulses precede them, at the end they follow."""
    edges = run.edges_of(channel)
    return edges[-48:-16] if closing else edges[16:48]


def with_another_marker_cost_at_the_end(run: SyntheticRun) -> None:
    for start, end in pairwise(calibration_edges(run, "CRIT", closing=True)):
        if end - start < 100:
            run.move("CRIT", end, 4)


def with_a_counter_that_lags(run: SyntheticRun) -> None:
    """By half a per mille: DWT and the timer of the frames do not count the same clock."""
    for index, line in enumerate(run.lines):
        if line.startswith("CAL,"):
            *fields, begin = line.split(",")
            run.lines[index] = ",".join([*fields, str(int((int(begin) + 400_000) % (1 << 32) * 0.9995))])


def with_a_jumping_clock(run: SyntheticRun) -> None:
    run.move("SYNC", run.edges_of("SYNC")[30], 12)


def without_an_answer(channel: str) -> Fault:
    def fault(run: SyntheticRun) -> None:
        first = next(cycle for cycle in run.edges_of(channel) if cycle >= run.stimuli[20][1])
        run.silence(channel, first, first + 150)

    return fault


def with_an_answer_to_nothing(run: SyntheticRun) -> None:
    run.pulse("ISR", run.stimuli[20][1] + 1000, 60)


def with_a_moved_answer(channel: str, cycles: int) -> Fault:
    """An answer that was the only one to meet its operation comes earlier or later on the wire."""

    def fault(run: SyntheticRun) -> None:
        answers = {
            "ISR": [answer for _, answer in run.stimuli],
            "TASK": [answer + TASK_LATER for _, answer in run.stimuli],
            "CISR": [answer for _, answer in run.controls],
        }[channel]
        met = [run.met(answer) for answer in answers]
        controls = [answer for _, answer in run.controls]
        answer = next(
            answer
            for answer, seq in zip(answers, met, strict=True)
            if seq is not None
            and met.count(seq) == 1
            and run.met(answer - 30) == run.met(answer + 30)
            and all(answer == other or abs(answer - other) > 100 for other in controls)
        )
        run.move(channel, answer, cycles)

    return fault


def with_all_answers_late(channel: str, cycles: int) -> Fault:
    """Every edge of a channel between the frames comes
    later, as no skew of the analyzer would tell.
    """
    return lambda run: run.delay_run({channel: cycles})


def with_a_moved_edge(channel: str, cycles: int) -> Fault:
    def fault(run: SyntheticRun) -> None:
        edges = run.edges_of(channel)
        run.move(channel, edges[len(edges) // 2], cycles)

    return fault


def with_a_late_answer_between_operations(run: SyntheticRun) -> None:
    answer = next(stimulus for _, stimulus in run.controls if run.met(stimulus) is None)
    run.move("CISR", answer, 30)


def without_the_latencies_of_an_operation(run: SyntheticRun) -> None:
    run.lines.remove(next(line for line in run.lines if line.startswith("IRQ,")))


def with_fault(name: str, given: tuple[Any, ...]) -> SyntheticRun:
    """A run with the fault that a function of this module plants, or makes of what it is given."""
    run, named = SyntheticRun(small_plan()), globals()[name]
    (named(*given) if given else named)(run)
    return run


@table
def test_a_fault_that_is_planted_is_told(
    verdict: str, fault: str, given: tuple[Any, ...], words: str
) -> None:
    """What is missing makes a run truncated, and what is doubtful inconclusive."""
    judged, reasons = judge(evidence_of(with_fault(fault, given)))
    assert judged == verdict, reasons
    assert any(words in reason for reason in reasons), reasons
    assert all(reason.endswith(".") and "\n" not in reason for reason in reasons)


@table
def test_the_tools_have_their_say(report: dict[str, object], verdict: str) -> None:
    assert judge(evidence_of(SyntheticRun(small_plan(depth=2)), report=report))[0] == verdict


@table
def test_dwt_is_proven_within_a_hundred_cycles(apart: int, proven: bool) -> None:
    run = SyntheticRun(small_plan(depth=2))
    edit(r"^PROOF,.*", f"PROOF,{10_000 + apart},10000")(run)
    assert (judge(evidence_of(run))[0] == "complete") is proven


def test_without_a_stimulus_nothing_need_be_preempted() -> None:
    assert judge(evidence_of(SyntheticRun(small_plan_under("none"))))[0] == "complete"


@pytest.mark.parametrize("samplerate_hz", [24_000_000, 100_000_000])
@table
def test_an_answer_moved_by_some_samples_is_seen_at_each_rate(
    samplerate_hz: int, channel: str, samples: int
) -> None:
    run = SyntheticRun(small_plan())
    with_a_moved_answer(channel, round(samples * CORE_HZ / samplerate_hz))(run)
    verdict, reasons = judge(evidence_of(run, samplerate_hz, ppm=20))
    assert verdict == "inconclusive"
    assert any(f"{channel} and the timer's counter disagree" in reason for reason in reasons), reasons


@pytest.mark.parametrize("samplerate_hz", [12_000_000, 24_000_000, 100_000_000])
def test_wire_and_timer_agree_at_each_rate(samplerate_hz: int) -> None:
    for plan in (small_plan(depth=2), small_sweep()):
        assert judge(evidence_of(SyntheticRun(plan), samplerate_hz, ppm=-35)) == ("complete", ())


def with_line(run: SyntheticRun, pattern: str, replacement: str) -> bytes:
    """The run's records with one line that was altered on its way, its own checksum made right."""
    sent = [line[1:].rpartition("*")[0] for line in run.uart().decode().splitlines()]
    index = next(i for i, body in enumerate(sent) if re.match(pattern, body))
    sent[index] = re.sub(pattern, replacement, sent[index])
    return b"".join(map(record, sent))


@table
def test_a_line_that_is_altered_under_a_right_checksum_is_found(pattern: str, replacement: str) -> None:
    run = SyntheticRun(small_plan(depth=2))
    sent = with_line(run, pattern, replacement)
    assert sent != run.uart()
    verdict, reasons = judge(evidence_of(run, serial_bytes=sent))
    assert verdict == "inconclusive"
    assert [reason for reason in reasons if "records' checksum" in reason]


def test_an_end_without_its_checksum_is_none() -> None:
    sent = with_line(SyntheticRun(small_plan(depth=2)), r"(END,\d+),\w+", r"\1")
    verdict, reasons = judge(evidence_of(SyntheticRun(small_plan(depth=2)), serial_bytes=sent))
    assert verdict == "truncated"
    assert reasons[0].startswith("The records stop without END")


def test_what_a_board_said_before_its_reset_is_in_no_checksum() -> None:
    run = SyntheticRun(small_plan(depth=2))
    assert judge(evidence_of(run, serial_bytes=b"noise\n" + run.uart()))[0] == "complete"


@table
def test_a_clock_that_no_crystal_has_is_none(ppm: int, verdict: str) -> None:
    assert judge(evidence_of(SyntheticRun(small_plan()), ppm=ppm))[0] == verdict


@table
def test_an_analyzer_that_repeats_its_samples_is_found(
    samplerate_hz: int, true_hz: int, verdict: str
) -> None:
    run = SyntheticRun(small_plan())
    seen, times = run.edges(true_hz), samplerate_hz // true_hz
    edges = EdgeList(seen.sample * times, seen.word, samplerate_hz, seen.total_samples * times)
    tools = ToolReport(asked_samples=edges.total_samples)
    result, reasons = judge(decode(run.plan, tools, edges, run.uart(), None, ASKED))
    grid = [reason for reason in reasons if f"one of every {times} samples" in reason]
    assert (result, len(grid)) == (verdict, int(verdict != "complete"))
    assert all(f"samples at {true_hz // 1_000_000} MHz" in reason for reason in grid)
