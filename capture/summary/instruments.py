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
from capture.reading.wire import COMMON_CHANNELS, fit_clock


def instruments(evidence: Evidence) -> dict[str, Any]:
    """Error budget, calibration, clocks, tick, and how far wire and DWT agree."""
    return {
        "error_budget": {
            key: budget.as_json(evidence.wire.core_hz) for key, budget in evidence.budgets.items()
        },
        "calibration": _calibration(evidence),
        "clock": _clock(evidence),
        "tick": _tick(evidence),
        "agreement": _agreement(evidence),
        # How far wire and timers agree; None where the records tell of no timer.
        "timer_agreement": {
            witness.of.quantity.key: _latency_agreement(witness) for witness in evidence.latencies
        }
        or None,
    }


def _calibration(evidence: Evidence) -> dict[str, Any]:
    costs = {"critical": evidence.joined.critical_cost, "operation": evidence.joined.operation_cost}
    ends = (evidence.wire.opening, evidence.wire.closing)
    return {
        **{
            key.format(name): cost and getattr(cost, field)
            for key, field in (
                ("{}_wire_minus_dwt_cycles", "wire_minus_dwt_cycles"),
                ("empty_{}_cycles", "empty_cycles"),
                ("{}_worst_residual_cycles", "worst_residual_cycles"),
                ("{}_drift_cycles", "drift_cycles"),
            )
            for name, cost in costs.items()
        },
        "pulses": sum(len(train) for end in ends for train in end.sections.values()),
        "counter_read_cycles": max(
            (cost.most_cycles for cost in evidence.log.all(CostRecord) if cost.instrument == "READ"),
            default=None,
        ),
        "pin_raise_cycles": pin_cost_cycles(evidence.log),
        "skew_samples": {
            channel: skew and asdict(skew)
            for channel in COMMON_CHANNELS
            for skew in (skew_between(evidence.wire, "STIM", channel),)
        },
    }


def _clock(evidence: Evidence) -> dict[str, float | int | None]:
    wire, counter = evidence.wire, evidence.joined.counter
    start, end = wire.start_frame, wire.end_frame

    def ratio_of(start: Samples | None, end: Samples | None) -> float | None:
        """The clock ratio of one frame alone."""
        if start is None and end is None:
            return None
        return fit_clock(start, end, wire.core_hz, wire.edges.samplerate_hz).ratio

    return {
        "samples_per_cycle_nominal": wire.samples_per_cycle_nominal,
        "ratio": wire.clock.ratio if wire.clock else None,
        "ratio_uncertainty": wire.clock.ratio_uncertainty if wire.clock else None,
        "residual_max_samples": wire.clock.residual_max_samples if wire.clock else None,
        "ratio_start": ratio_of(start, None),
        "ratio_end": ratio_of(None, end),
        "ratio_by_dwt": counter.ratio if counter else None,
        "ratio_by_dwt_uncertainty": counter.ratio_uncertainty if counter else None,
        "residual_by_dwt_max_samples": counter.residual_max_samples if counter else None,
        "start_edges": 0 if start is None else len(start),
        "end_edges": 0 if end is None else len(end),
    }


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


def _agreement(evidence: Evidence) -> dict[str, Any]:
    disagreement = evidence.joined.operations["disagreement_cycles"].drop_nulls().abs()
    return {
        "n": len(disagreement),
        "wire_minus_dwt_cycles_max_abs": disagreement.max(),
        "tolerance_cycles": evidence.tolerance_cycles,
        "resolution_cycles": evidence.instruments.agreement_cycles,
        "clock_cycles": evidence.tolerance_cycles - evidence.instruments.agreement_cycles,
    }


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
