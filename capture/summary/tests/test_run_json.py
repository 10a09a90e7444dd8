"""What run.json counts, against the lines and the edges that a run is made from."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from capture.acquisition.account import Setting
from capture.summary.summary import summarise_run
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import (
    CORE_HZ,
    CRITICAL_COST,
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
