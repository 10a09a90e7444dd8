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
    HEAP_BYTES,
    SyntheticRun,
    small_plan,
    small_sweep,
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


def test_the_serial_line_is_counted() -> None:
    run = SyntheticRun(small_plan(depth=2))
    assert told_of(run)["serial"] == {
        "bytes": len(run.uart()),
        "records": len(run.lines),
        "checksum_failures": 0,
        "sequence_gaps": 0,
        "end_record": True,
    }
    run.lines = [line for line in run.lines if not line.startswith(("OP,3,", "END"))] + ["STAT,x"]
    serial = told_of(run)["serial"]
    assert (serial["checksum_failures"], serial["sequence_gaps"], serial["end_record"]) == (1, 1, False)


def test_a_run_without_records_tells_of_no_firmware() -> None:
    run = SyntheticRun(small_plan(depth=2))
    firmware = told_of(run)["firmware"]
    assert (firmware["kernel"], firmware["core_hz"], firmware["flash_acr"]) == (
        "V11.2.0",
        CORE_HZ,
        "00000702",
    )
    assert (firmware["heap_bytes"], firmware["free_blocks_at_start"]) == (HEAP_BYTES, 1)
    run.lines = ["END,0"]
    silent = told_of(run)
    assert {
        value for key, value in silent["firmware"].items() if key not in ("elf_sha256", "kernel_calls")
    } == {None}
    assert (silent["locking"], silent["knobs"], silent["turned_knobs"]) == (None, {}, {})
    assert silent["interrupts"]["isr_entries"] is silent["interrupts"]["preempted_operations"] is None


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


def test_a_sweeps_maximum_may_be_off_by_the_budgets_of_latency_and_section() -> None:
    document = told_of(SyntheticRun(small_sweep()))
    budget = document["error_budget"]
    for curve in document["sweep"]["curves"]:
        # The greatest value is a little more uncertain than that of a curve, by the clock.
        assert curve["budgets_ns"]["entry"] == pytest.approx(
            budget["interrupt_latency_ns"]["total"]["ns"] + budget["critical_ns"]["total"]["ns"], rel=1e-4
        )
    assert {curve["label"] for curve in document["sweep"]["curves"]} == {"empty", "depth 1"}


def test_notes_come_behind_the_warnings() -> None:
    run = SyntheticRun(small_plan(depth=2))
    run.lines[0] = run.lines[0].replace("tlsf", "heap_4")
    warning, note = told_of(run)["warnings"]
    assert warning.startswith("Nobody counted probes") and note == "A note."
