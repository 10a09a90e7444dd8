"""The join of swept stimuli and operations, on tables worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from base.run_folder import tables
from capture.joining.sweep import labels_cut_short, match_stimuli, summarise_sweep, sweep_disproven
from capture.reading.vectorised import PulseTrain
from scenarios.generator import Step
from scenarios.operations import Call
from scenarios.plan import Plan, compile_steps
from scenarios.stimulus import Stimulus

CORE_HZ = 84_000_000
SAMPLE_NS = 1e9 / CORE_HZ
SECTION = 100


def plan_of(labels: list[str]) -> Plan:
    steps = [Step(Call("empty", stimulus_offset=40 + i), label) for i, label in enumerate(labels)]
    return compile_steps("swept", {}, Stimulus("sweep", 0, 7919), steps)


def operations_of(plan: Plan) -> pl.DataFrame:
    """Each begins 1,000 samples after the one before, and lasts 300; an empty section has 20."""
    rows: list[dict[str, Any]] = [
        {
            "seq": seq,
            "label": label,
            "start_sample": 1000 * (seq + 1),
            "wire_operation_samples": 300,
            "wire_critical_ns": (20 if label == "empty" else SECTION) * SAMPLE_NS,
        }
        for seq, label in plan.operations.select("seq", "label").iter_rows()
    ]
    return pl.DataFrame(rows, schema_overrides={"seq": pl.UInt32}).pipe(_completed, tables.OPERATIONS)


def interrupts_of(phases: list[int], latencies: list[int], control: list[tuple[int, int]]) -> pl.DataFrame:
    stimuli = [
        (False, 1000 * (i + 1) + phase, latency)
        for i, (phase, latency) in enumerate(zip(phases, latencies, strict=True))
    ]
    rows = [
        {
            "control": is_control,
            "sample": sample,
            "time_ns": sample * SAMPLE_NS,
            "isr_latency_ns": latency * SAMPLE_NS,
            "tick": False,
        }
        for is_control, sample, latency in [*stimuli, *((True, *pair) for pair in control)]
    ]
    return pl.DataFrame(rows).pipe(_completed, tables.INTERRUPTS)


def _completed(table: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    missing = [
        pl.lit(None, dtype=dtype).alias(name) for name, dtype in schema.items() if name not in table.columns
    ]
    return table.with_columns(missing).select(pl.col(name).cast(dtype) for name, dtype in schema.items())


# CRIT rises 30 samples after OP. The third and the fourth stimulus come before the section, the
# fifth within it.
PLAN = plan_of(["empty", "empty", "deep", "deep", "deep", "deep"])
OPERATIONS = operations_of(PLAN)
PHASES = [10, 310, 10, 20, 60, 310]
LEAD, TAIL = 20, 33
LATENCIES = [LEAD + 20 + 27, 16, LEAD + SECTION + TAIL, LEAD - 10 + SECTION + TAIL, 130 - 60 + TAIL, 16]


def found_of(
    latencies: list[int],
    control: list[tuple[int, int]],
    allowed_ns: float,
    phases: list[int] = PHASES,
) -> dict[str, Any]:
    begin = OPERATIONS["start_sample"].to_numpy() + 30
    widths = np.rint(OPERATIONS["wire_critical_ns"].to_numpy() / SAMPLE_NS).astype(np.int64)
    summary = summarise_sweep(
        PLAN,
        joined(OPERATIONS, interrupts_of(phases, latencies, control)),
        wire(PulseTrain(begin, begin + widths)),
        lambda _, ns: None if ns is None else allowed_ns / 2,
    )
    assert summary is not None
    return summary


def joined(operations: pl.DataFrame, interrupts: pl.DataFrame) -> Any:
    return SimpleNamespace(operations=operations, interrupts=interrupts)


def wire(critical: PulseTrain) -> Any:
    """One sample is one cycle."""
    return SimpleNamespace(critical=critical, core_hz=CORE_HZ, edges=SimpleNamespace(sample_ns=SAMPLE_NS))


def test_a_curve_is_held_against_section_and_entry() -> None:
    summary = found_of(LATENCIES, [], 0.5 * SAMPLE_NS)
    assert summary["lead_ns"] == pytest.approx(LEAD * SAMPLE_NS)
    empty, deep = summary["curves"]
    assert (empty["label"], empty["n"], deep["label"], deep["n"]) == ("empty", 2, "deep", 4)
    assert (empty["entry_ns"], empty["within_budget"]) == (None, None), "none came within the empty section"
    assert deep["entry_ns"] == pytest.approx((LEAD + TAIL) * SAMPLE_NS)
    assert deep["undisturbed_max_ns"] == pytest.approx((LEAD + SECTION + TAIL) * SAMPLE_NS)
    assert deep["seq"] == 2
    assert deep["within_budget"] is True


def test_a_maximum_beyond_the_budget_is_told() -> None:
    longer = [*LATENCIES[:2], LATENCIES[2] + 2, *LATENCIES[3:]]
    within, beyond = (found_of(longer, [], samples * SAMPLE_NS) for samples in (2.5, 1.5))
    assert [curve["within_budget"] for curve in within["curves"]] == [None, True]
    assert [curve["within_budget"] for curve in beyond["curves"]] == [None, False]
    assert list(sweep_disproven(within)) == []
    (sentence,) = sweep_disproven(beyond)
    assert "deep" in sentence and f"{2 * SAMPLE_NS:+.1f} ns" in sentence


def test_a_control_interrupt_beside_the_wait_disturbs() -> None:
    """Its answer falls between the third stimulus, 3010, and that one's answer."""
    deep = found_of(LATENCIES, [(3020, 17)], 1.5 * SAMPLE_NS)["curves"][1]
    assert (deep["disturbed"], deep["seq"]) == (1, 3)
    assert deep["latency_max_ns"] > deep["undisturbed_max_ns"]


def test_how_long_a_control_interrupt_lasts_is_told_by_the_clock_of_the_run() -> None:
    """One began 300 samples before the third stimulus: over by then, but not at half the clock."""
    with_control = joined(OPERATIONS, interrupts_of(PHASES, LATENCIES, [(3010 - 317, 17)]))
    for core_hz, disturbed in ((CORE_HZ, []), (CORE_HZ // 2, [2])):
        table = match_stimuli(PLAN, with_control, core_hz)
        assert table is not None
        assert table.filter("disturbed")["seq"].to_list() == disturbed


@pytest.mark.parametrize(("last", "short"), [(299, ["deep"]), (300, [])])
def test_a_sweep_that_ends_within_its_operation_is_short(last: int, short: list[str]) -> None:
    interrupts = interrupts_of([10, 310, 10, 20, 60, last], LATENCIES, [])
    table = match_stimuli(PLAN, joined(OPERATIONS, interrupts), CORE_HZ)
    assert table is not None
    assert labels_cut_short(table) == short
