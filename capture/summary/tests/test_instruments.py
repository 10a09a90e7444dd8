"""What run.json says of the instruments, against the truth that a run is made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from capture.reading.wire import COMMON_CHANNELS
from capture.summary.instruments import instruments
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import (
    CRITICAL_COST,
    OPERATION_COST,
    READ_LATER,
    SyntheticRun,
    small_plan,
)

KEYS = {"ISR": "interrupt_latency_ns", "TASK": "task_latency_ns", "CISR": "control_latency_ns"}


@pytest.fixture
def run() -> SyntheticRun:
    return SyntheticRun(small_plan())


def told_of(run: SyntheticRun) -> dict[str, Any]:
    return instruments(evidence_of(run))


def test_at_the_core_clock_the_calibration_is_exact(run: SyntheticRun) -> None:
    read = run.line_of("COST,READ")
    run.lines[read] = "COST,READ,1,5"
    calibration = told_of(run)["calibration"]
    skew = calibration.pop("skew_samples")
    assert skew == {channel: {"mean": 0, "least": -1, "most": 1} for channel in COMMON_CHANNELS}
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
    calibration = told_of(run)["calibration"]
    assert calibration[f"{name}_drift_cycles"] == pytest.approx(2)
    assert calibration[f"{name}_worst_residual_cycles"] == pytest.approx(3)


def test_the_clocks_ratios_are_those_that_were_made() -> None:
    run = SyntheticRun(small_plan())
    clocks = instruments(evidence_of(run, 24_000_000, 30))["clock"]
    assert clocks["samples_per_cycle_nominal"] == pytest.approx(24 / 84)
    assert (clocks["start_edges"], clocks["end_edges"]) == (64, 64)
    # A frame of 63 times 840 or 1260 cycles, and a run, each known to a sample at either end.
    for name, cycles in (
        ("ratio", 63 * 1260),
        ("ratio_start", 63 * 840),
        ("ratio_end", 63 * 1260),
        ("ratio_by_dwt", run.end_cycle - 300_000),
    ):
        assert clocks[name] == pytest.approx(1 + 30e-6, abs=2 / (cycles * 24 / 84)), name
    assert 0 < clocks["ratio_by_dwt_uncertainty"] < clocks["ratio_uncertainty"] / 10 < 1e-4
    assert 0 < clocks["residual_max_samples"] < 1 and 0 < clocks["residual_by_dwt_max_samples"] < 1


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
    agreement = told_of(run)["timer_agreement"]
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


def test_what_was_never_told_is_none() -> None:
    run = SyntheticRun(small_plan(depth=2))
    run.lines = [line for line in run.lines if not line.startswith(("COST", "TICK", "CAL", "BOOT"))]
    run.toggles = []
    document = told_of(run)
    assert document["tick"] is document["timer_agreement"] is None
    calibration = document["calibration"]
    assert (calibration.pop("pulses"), calibration.pop("skew_samples")) == (
        0,
        dict.fromkeys(COMMON_CHANNELS),
    )
    assert set(calibration.values()) == {None}
    assert (document["agreement"]["n"], document["agreement"]["wire_minus_dwt_cycles_max_abs"]) == (0, None)
