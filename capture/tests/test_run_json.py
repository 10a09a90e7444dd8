"""What run.json counts and says of the instruments, against the lines and the edges that a run is
made from.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from capture.acquisition.source import Setting
from capture.instruments.calibration import Skew
from capture.reading.wire import COMMON_CHANNELS
from capture.summary.summary import instruments, summarise_run
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import (
    CORE_HZ,
    CRITICAL_COST,
    OPERATION_COST,
    READ_LATER,
    SyntheticRun,
    small_plan,
)

SAMPLE_NS = 1e9 / CORE_HZ
SETTING = Setting("tlsf", "nucleo", "fx2lafw", "ab" * 32, notes=("A note.",))


def told_of(run: SyntheticRun) -> dict[str, Any]:
    return summarise_run(evidence_of(run), SETTING).as_json()


def test_operations_are_counted_by_what_became_of_them() -> None:
    run = SyntheticRun(small_plan(depth=6))
    kinds = iter("OONNNEEEE")
    planned = {"O": "A", "N": "F", "E": "F"}
    kind = next(kinds)
    for at, line in enumerate(run.lines):
        if line.startswith("OP,") and line.split(",")[2] == planned.get(kind):
            seq, rest = line.split(",")[1], line.split(",")[3:]
            run.lines[at] = ",".join(["OP", seq, kind, *rest])
            kind = next(kinds, "")
    planned_kinds = run.plan.operations["kind"].to_list()
    assert told_of(run)["counts"] == {
        "operations": len(planned_kinds),
        "allocations": planned_kinds.count("A") - 2,
        "frees": planned_kinds.count("F") - 7,
        "out_of_memory": 2,
        "nothing_to_free": 3,
        "refused": 4,
        "skipped": 0,
    }


def test_requests_that_were_refused_are_summed_up_apart() -> None:
    run = SyntheticRun(small_plan(depth=6))
    measured = run.plan.operations.filter("measured", kind="A")["seq"].to_list()
    refused = measured[1::3]
    for at, line in enumerate(run.lines):
        if line.startswith("OP,") and int(line.split(",")[1]) in refused:
            run.lines[at] = line.replace(",A,", ",O,")
    document = told_of(run)

    def widths(seqs: list[int]) -> list[float]:
        return [(run.truths[seq].critical_cycles + CRITICAL_COST) * SAMPLE_NS for seq in seqs]

    served = [seq for seq in measured if seq not in refused]
    for key, seqs in (("critical_ns", measured), ("served_critical_ns", served)):
        assert_sums_up(document[key], widths(seqs))
    assert_sums_up(document["refused_critical_ns"], widths(refused))
    assert document["refused_probes"]["n"] == document["counts"]["out_of_memory"] == len(refused)
    assert document["maxima"]["refused_dwt_cycles"]["kind"] == "O"
    assert document["maxima"]["served_dwt_cycles"]["kind"] == "A"


def assert_sums_up(document: dict[str, Any], values: list[float]) -> None:
    told = [document[name] for name in ("min", "mean", "stdev", "max")]
    truth = [min(values), statistics.fmean(values), statistics.stdev(values), max(values)]
    assert document["n"] == len(values)
    assert told == pytest.approx(truth)


def test_interrupts_are_counted_by_wire_and_by_records() -> None:
    run = SyntheticRun(small_plan())
    lost = run.stimuli[20][1]
    run.silence("ISR", lost, lost + 60)
    stat = run.line_of("STAT")
    run.lines[stat] = ",".join(["STAT", "1", "2", "3", "4", *run.lines[stat].split(",")[5:]])
    assert told_of(run)["interrupts"] == {
        "stimuli": len(run.stimuli),
        "answered": len(run.stimuli) - 1,
        "merged": 1,
        "task_merged": 0,
        "open": 0,
        "task_open": 0,
        "isr_entries": 1,
        "task_wakes": 2,
        "control_stimuli": len(run.controls),
        "control_entries": 3,
        "preempted_operations": 4,
    }


def test_the_greatest_latency_is_told_by_the_timer_too() -> None:
    """Of answers that met an operation together with others the timer cannot tell each."""
    run = SyntheticRun(small_plan())
    maxima = told_of(run)["maxima"]
    stimulus, answer = max(run.stimuli, key=lambda pair: pair[1] - pair[0])
    met = [run.met(answer) for _, answer in run.stimuli]
    assert met.count(run.met(answer)) == 1
    assert maxima["interrupt_latency_ns"]["timer_ns"] == pytest.approx((answer - stimulus) * SAMPLE_NS)
    assert maxima["interrupt_latency_ns"]["sample"] == stimulus
    assert "timer_ns" not in maxima["critical_ns"]


KEYS = {"ISR": "interrupt_latency_ns", "TASK": "task_latency_ns", "CISR": "control_latency_ns"}


@pytest.fixture
def run() -> SyntheticRun:
    return SyntheticRun(small_plan())


def instruments_of(run: SyntheticRun) -> dict[str, Any]:
    return instruments(evidence_of(run))


def test_at_the_core_clock_the_calibration_is_exact(run: SyntheticRun) -> None:
    read = run.line_of("COST,READ")
    run.lines[read] = "COST,READ,1,5"
    calibration = instruments_of(run)["calibration"]
    skew = calibration.pop("skew_samples")
    assert skew == {channel: Skew(mean=0, least=-1, most=1) for channel in COMMON_CHANNELS}
    assert calibration == {
        "critical_wire_minus_dwt_cycles": CRITICAL_COST,
        "operation_wire_minus_dwt_cycles": OPERATION_COST,
        "empty_critical_cycles": 4,
        "empty_operation_cycles": 6,
        "critical_worst_residual_cycles": pytest.approx(0, abs=1e-9),
        "operation_worst_residual_cycles": pytest.approx(0, abs=1e-9),
        "critical_drift_cycles": pytest.approx(0, abs=1e-9),
        "operation_drift_cycles": pytest.approx(0, abs=1e-9),
        "pulses": 64,
        "counter_read_cycles": 5,
        "pin_raise_cycles": 9 - 1,
    }


@pytest.mark.parametrize(("channel", "name"), [("CRIT", "critical"), ("OP", "operation")])
def test_markers_of_which_some_cost_more_at_the_end_have_drifted(
    run: SyntheticRun, channel: str, name: str
) -> None:
    """Half of those at the end, a fourth of all, are four cycles longer: one cycle on average."""
    for edge in run.edges_of(channel)[-48:-16][1::4]:
        run.move(channel, edge, 4)
    calibration = instruments_of(run)["calibration"]
    assert calibration[f"{name}_drift_cycles"] == pytest.approx(2)
    assert calibration[f"{name}_worst_residual_cycles"] == pytest.approx(3)


@pytest.mark.parametrize("pick", [min, max])
def test_wire_and_timer_agree_but_for_the_way_to_the_read(
    run: SyntheticRun, pick: Callable[[list[int]], int]
) -> None:
    """One control interrupt that met an operation alone is raised four cycles late on the wire."""
    met = [run.met(answer) for _, answer in run.controls]
    alone = [at for at, seq in enumerate(met) if seq is not None and met.count(seq) == 1]
    late = run.controls[pick(alone)][1]
    run.move("CISR", late, 4)
    run.move("CISR", late + 40, 4)
    agreement = instruments_of(run)["timer_agreement"]
    assert set(agreement) == set(KEYS.values())
    for part in agreement.values():
        assert part["offset_cycles"] == pytest.approx(READ_LATER)
        assert 0 < part["offset_uncertainty_cycles"] <= 1.5
    of_control, of_isr = agreement["control_latency_ns"], agreement["interrupt_latency_ns"]
    assert of_control["answers"] == sum(seq is not None for seq in met)
    assert of_control["n"] == len({seq for seq in met if seq is not None})
    assert of_control["worst_disagreement_cycles"] == pytest.approx(4)
    assert of_isr["worst_disagreement_cycles"] == pytest.approx(0, abs=1e-9)
    # A sample, half of what a read's cost varies by, and how far the offset is known.
    assert of_control["allowed_cycles"] == pytest.approx(
        1 + 0.5 + of_control["offset_uncertainty_cycles"], abs=0.01
    )
    between = [answer - stimulus + READ_LATER for stimulus, answer in run.stimuli if run.met(answer) is None]
    assert (of_isr["between_least_ticks"], of_isr["between_most_ticks"]) == (min(between), max(between))
