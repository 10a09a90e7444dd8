"""What run.json says of the bench's instruments (docs/reference/run-json.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import polars as pl

from base.run_folder.edges import Samples
from base.run_folder.records import CostRecord, TickRecord
from capture.instruments.calibration import skew_between
from capture.joining.budget import pin_cost_cycles
from capture.joining.evidence import Evidence
from capture.joining.latencies import LatencyWitness
from capture.reading.wire import COMMON_CHANNELS, Wire, fit_clock


def instruments(evidence: Evidence) -> dict[str, Any]:
    """Error budget, calibration, clocks, tick, and how far wire and DWT agree."""
    return {
        "error_budget": _error_budget(evidence),
        "calibration": _calibration(evidence),
        "clock": _clock(evidence),
        "tick": _tick(evidence),
        "agreement": _agreement(evidence),
        "timer_agreement": _timer_agreement(evidence),
    }


def _error_budget(evidence: Evidence) -> dict[str, Any]:
    core_hz = evidence.wire.core_hz
    return {key: budget.as_json(core_hz) for key, budget in evidence.budgets.items()}


def _calibration(evidence: Evidence) -> dict[str, Any]:
    critical, operation = evidence.joined.critical_cost, evidence.joined.operation_cost
    ends = (evidence.wire.opening, evidence.wire.closing)
    return {
        "critical_wire_minus_dwt_cycles": critical.wire_minus_dwt_cycles if critical else None,
        "operation_wire_minus_dwt_cycles": operation.wire_minus_dwt_cycles if operation else None,
        "empty_critical_cycles": critical.empty_cycles if critical else None,
        "empty_operation_cycles": operation.empty_cycles if operation else None,
        "critical_worst_residual_cycles": critical.worst_residual_cycles if critical else None,
        "operation_worst_residual_cycles": operation.worst_residual_cycles if operation else None,
        "critical_drift_cycles": critical.drift_cycles if critical else None,
        "operation_drift_cycles": operation.drift_cycles if operation else None,
        "pulses": sum(len(train) for end in ends for train in end.sections.values()),
        "counter_read_cycles": _counter_read_cycles(evidence),
        "pin_raise_cycles": pin_cost_cycles(evidence.log),
        "skew_samples": {channel: _skew_to_stimulus(evidence, channel) for channel in COMMON_CHANNELS},
    }


def _counter_read_cycles(evidence: Evidence) -> int | None:
    costs = [cost.most_cycles for cost in evidence.log.all(CostRecord) if cost.instrument == "READ"]
    return max(costs, default=None)


def _skew_to_stimulus(evidence: Evidence, channel: str) -> dict[str, float] | None:
    skew = skew_between(evidence.wire, "STIM", channel)
    return None if skew is None else asdict(skew)


def _clock(evidence: Evidence) -> dict[str, float | int | None]:
    wire, counter = evidence.wire, evidence.joined.counter
    return {
        "samples_per_cycle_nominal": wire.samples_per_cycle_nominal,
        "ratio": wire.clock.ratio if wire.clock else None,
        "ratio_uncertainty": wire.clock.ratio_uncertainty if wire.clock else None,
        "residual_max_samples": wire.clock.residual_max_samples if wire.clock else None,
        "ratio_start": _ratio_of_frame(wire, wire.start_frame, None),
        "ratio_end": _ratio_of_frame(wire, None, wire.end_frame),
        "ratio_by_dwt": counter.ratio if counter else None,
        "ratio_by_dwt_uncertainty": counter.ratio_uncertainty if counter else None,
        "residual_by_dwt_max_samples": counter.residual_max_samples if counter else None,
        "start_edges": 0 if wire.start_frame is None else len(wire.start_frame),
        "end_edges": 0 if wire.end_frame is None else len(wire.end_frame),
    }


def _ratio_of_frame(wire: Wire, start: Samples | None, end: Samples | None) -> float | None:
    """The clock ratio of one frame alone."""
    if start is None and end is None:
        return None
    return fit_clock(start, end, wire.core_hz, wire.edges.samplerate_hz).ratio


def _tick(evidence: Evidence) -> dict[str, int] | None:
    """The kernel's tick, and how many answers it may have delayed."""
    tick, interrupts = evidence.log.first(TickRecord), evidence.joined.interrupts
    if tick is None:
        return None
    answered = interrupts.filter(~pl.col("control") & pl.col("isr_latency_ns").is_not_null())
    return {
        "period_cycles": tick.period_cycles,
        "handler_cycles": tick.handler_cycles,
        "interrupts_touched": int(answered["tick"].sum()),
        "controls_touched": int(interrupts.filter("control")["tick"].sum()),
        "task_wakes_touched": int(answered.drop_nulls("task_latency_ns")["task_tick"].sum()),
    }


def _agreement(evidence: Evidence) -> dict[str, float | int | None]:
    disagreement = evidence.joined.operations["disagreement_cycles"].drop_nulls()
    return {
        "n": len(disagreement),
        "wire_minus_dwt_cycles_max_abs": float(disagreement.abs().to_numpy().max())
        if len(disagreement)
        else None,
        "tolerance_cycles": evidence.tolerance_cycles,
        "resolution_cycles": evidence.instruments.agreement_cycles,
        "clock_cycles": evidence.tolerance_cycles - evidence.instruments.agreement_cycles,
    }


def _timer_agreement(evidence: Evidence) -> dict[str, Any] | None:
    """How far wire and timers agree, by quantity; None where the records tell of no timer."""
    return {witness.of.quantity.key: _latency_agreement(witness) for witness in evidence.latencies} or None


def _latency_agreement(witness: LatencyWitness) -> dict[str, float | int | None]:
    offset, between = witness.offset, witness.between
    compared = witness.compared.with_columns(pl.col("apart_cycles").abs())
    worst = compared.row(compared["apart_cycles"].arg_max() or 0, named=True) if compared.height else {}
    return {
        "n": compared.height,
        "answers": int(compared["number"].sum()),
        "offset_cycles": offset.cycles if offset else None,
        "offset_uncertainty_cycles": offset.uncertainty_cycles if offset else None,
        "worst_disagreement_cycles": worst.get("apart_cycles"),
        "allowed_cycles": worst.get("allowed_cycles"),
        "between_least_ticks": between.least_ticks if between else None,
        "between_most_ticks": between.most_ticks if between else None,
    }
