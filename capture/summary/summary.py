"""run.json: what ran, what came out, and whether it may be believed.

See docs/reference/run-json.md.
"""

from __future__ import annotations

from itertools import product

from polars import col

from base.metrology.quantiles import summarise
from base.run_folder.folder import COUNTS
from base.run_folder.manifest import SCHEMA, Manifest
from base.run_folder.quantities import QUANTITIES, by_quantity
from base.run_folder.records import StatRecord, TickRecord
from capture.acquisition.source import Setting
from capture.instruments.calibration import cost_cycles, skew_between
from capture.joining.evidence import Evidence, Json, pin_cost_cycles, worst_row
from capture.joining.latencies import LatencyWitness
from capture.joining.sweep import summarise_sweep, sweep_disproven
from capture.reading.probes import stated_of
from capture.reading.wire import COMMON_CHANNELS, fit_clock
from capture.summary.figures import (
    aligned_allocations,
    baseline,
    compare_bounds,
    exceeded_bounds,
    heap_wait,
    intervals,
    possible_wait,
)
from capture.summary.warnings import warnings
from capture.verdict.verdict import judge

_COUNTED = {
    "allocations": "A",
    "frees": "F",
    "out_of_memory": "O",
    "nothing_to_free": "N",
    "refused": "E",
    "skipped": "S",
}
"""What run.json calls the operations of a kind."""


def summarise_run(evidence: Evidence, setting: Setting) -> Manifest:
    """The whole content of run.json."""
    plan, log, joined, boot = evidence.plan, evidence.log, evidence.joined, evidence.boot
    verdict, reasons = judge(evidence)
    bounds = compare_bounds(setting.bounds, evidence)
    sweep = summarise_sweep(plan, joined, evidence.wire, evidence.allowed_ns)
    waited = heap_wait(evidence)
    kinds = dict(joined.operations.group_by("kind").len().iter_rows())
    # How the heap held others off, and the allocator's knobs: all of them, and those turned.
    knobs = boot.knob_values if boot else {}
    options = stated_of(boot, evidence.asked)
    defaults = {name: str(value) for name, value in options.knobs.items()} if options else {}
    # The virtual board ran, and its table is not there.
    counted = evidence.instructions.of or evidence.instructions.why_none or joined.operations.is_empty()
    uncounted = "virtual_nucleo" in setting.tools and not counted
    return Manifest.of(
        {
            "schema": SCHEMA,
            "verdict": verdict,
            "reasons": reasons,
            "scenario": plan.name,
            "parameters": plan.parameters,
            "ramp": plan.ramp,
            "seed": plan.seed,
            "stimulus": plan.stimulus,
            "records": plan.records,
            "image_crc32": f"{plan.image_crc32:08X}",
            "allocator": setting.allocator,
            "board": setting.board,
            "analyzer": setting.analyzer,
            "samplerate_hz": evidence.edges.samplerate_hz,
            "total_samples": evidence.edges.total_samples,
            "firmware": {
                "elf_sha256": setting.elf_sha256,
                "kernel": boot and boot.kernel,
                "heap_bytes": boot and boot.heap_bytes,
                "core_hz": boot and boot.core_hz,
                "flash_acr": boot and f"{boot.flash_acr:08X}",
                "free_blocks_at_start": boot and boot.free_blocks,
                "kernel_calls": "kernel_calls" in plan.extras,
                **({"urgent_task": True} if "urgent_task" in plan.extras else {}),
            },
            "asked": evidence.asked,
            "imported": setting.imported,
            **({"glitches": evidence.glitches} if evidence.glitches else {}),
            "locking": boot and boot.locking,
            "knobs": knobs,
            "turned_knobs": {name: value for name, value in knobs.items() if defaults.get(name) != value},
            "tools": setting.tools,
            "tool_report": evidence.tools,
            "counts": {
                "operations": joined.operations.height,
                **{name: kinds.get(kind, 0) for name, kind in _COUNTED.items()},
            },
            "probes_source": evidence.probes.source,
            **by_quantity(
                joined.samples,
                lambda quantity, rows: summarise(rows[quantity.column], quantity.still_open(rows)),
            ),
            **instruments(evidence),
            "intervals": intervals(joined.samples, plan.ramp),
            "maxima": _maxima(evidence),
            "possible_wait": possible_wait(evidence),
            "sweep": sweep,
            **({"heap_wait": waited} if waited else {}),
            "baselines": {quantity.key: baseline(evidence, quantity) for quantity in QUANTITIES},
            "bounds": bounds,
            "memory": setting.memory and setting.memory.figures,
            "footprint": setting.footprint,
            "interrupts": _interrupt_counts(evidence),
            "serial": {
                "bytes": log.byte_count,
                "records": len(log.records),
                "checksum_failures": len(log.damaged),
                "sequence_gaps": log.sequence_gaps,
                "end_record": evidence.end is not None,
            },
            "warnings": [
                *warnings(evidence),
                *sweep_disproven(sweep),
                *exceeded_bounds(bounds),
                *(
                    [f"{COUNTS} is missing: the instructions of the critical sections are not known."]
                    if uncounted
                    else []
                ),
                *setting.notes,
            ],
        }
    )


def _interrupt_counts(evidence: Evidence) -> Json:
    interrupts = evidence.joined.interrupts
    stimuli = interrupts.filter(~col.control)
    stat = evidence.log.first(StatRecord)
    return {
        "stimuli": stimuli.height,
        "answered": stimuli["isr_latency_ns"].count(),
        "merged": stimuli["isr_merged"].sum(),
        "task_merged": stimuli["task_merged"].sum(),
        "open": stimuli["isr_open"].sum(),
        "task_open": stimuli["task_open"].sum(),
        "isr_entries": stat and stat.isr_entries,
        "task_wakes": stat and stat.task_wakes,
        "control_stimuli": interrupts.height - stimuli.height,
        "control_entries": stat and stat.control_entries,
        "preempted_operations": stat and stat.preempted_operations,
    }


def _maxima(evidence: Evidence) -> Json:
    operations = evidence.joined.operations
    maxima = by_quantity(evidence.joined.samples, lambda quantity, rows: quantity.maximum(rows, operations))
    aligned = aligned_allocations(evidence)
    for greatest in filter(None, maxima.values()):
        greatest["aligned"] = None if greatest["seq"] is None else greatest["seq"] in aligned
    for quantity, witness in product(QUANTITIES, evidence.latencies):
        entry = maxima[quantity.key]
        if entry and quantity.interval == witness.of.channels:
            answer = entry["sample"] + round(entry["value"] / evidence.edges.sample_ns)
            cycles = witness.cycles_of(answer)
            entry["timer_ns"] = None if cycles is None else evidence.wire.ns_of(cycles)
    return maxima


def instruments(evidence: Evidence) -> Json:
    """Error budget, calibration, clocks, tick, and how far wire and DWT agree."""
    disagreement = evidence.joined.operations["disagreement_cycles"].drop_nulls().abs()
    tolerance_cycles, resolution_cycles = evidence.tolerance_cycles, evidence.agreement_cycles
    return {
        "error_budget": {
            key: budget.as_json(evidence.wire.core_hz) for key, budget in evidence.budgets.items()
        },
        "calibration": _calibration(evidence),
        "clock": _clock(evidence),
        "tick": _tick(evidence),
        "agreement": {
            "n": len(disagreement),
            "wire_minus_dwt_cycles_max_abs": disagreement.max(),
            "tolerance_cycles": tolerance_cycles,
            "resolution_cycles": resolution_cycles,
            "clock_cycles": tolerance_cycles - resolution_cycles,
        },
        # How far wire and timers agree; None where the records tell of no timer.
        "timer_agreement": {
            witness.of.quantity.key: _latency_agreement(witness) for witness in evidence.latencies
        }
        or None,
    }


def _calibration(evidence: Evidence) -> Json:
    costs = {"critical": evidence.joined.critical_cost, "operation": evidence.joined.operation_cost}
    ends = (evidence.wire.opening, evidence.wire.closing)
    read = cost_cycles(evidence.log, "READ")
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
        "counter_read_cycles": read and read[1],
        "pin_raise_cycles": pin_cost_cycles(evidence.log),
        "skew_samples": {
            channel: skew_between(evidence.wire, "STIM", channel) for channel in COMMON_CHANNELS
        },
    }


def _clock(evidence: Evidence) -> Json:
    wire, fit, counter = evidence.wire, evidence.wire.clock, evidence.joined.counter
    start, end = wire.start_frame, wire.end_frame
    start_alone = fit_clock(start, None, wire.core_hz, wire.edges.samplerate_hz)
    end_alone = fit_clock(None, end, wire.core_hz, wire.edges.samplerate_hz)

    return {
        "samples_per_cycle_nominal": wire.samples_per_cycle_nominal,
        "ratio": fit and fit.ratio,
        "ratio_uncertainty": fit and fit.ratio_uncertainty,
        "residual_max_samples": fit and fit.residual_max_samples,
        "ratio_start": start_alone and start_alone.ratio,
        "ratio_end": end_alone and end_alone.ratio,
        "ratio_by_dwt": counter and counter.ratio,
        "ratio_by_dwt_uncertainty": counter and counter.ratio_uncertainty,
        "residual_by_dwt_max_samples": counter and counter.residual_max_samples,
        "start_edges": 0 if start is None else len(start),
        "end_edges": 0 if end is None else len(end),
    }


def _tick(evidence: Evidence) -> Json | None:
    """The kernel's tick, and how many answers it may have delayed."""
    tick, interrupts = evidence.log.first(TickRecord), evidence.joined.interrupts
    if tick is None:
        return None
    answered = interrupts.filter(~col.control & col.isr_latency_ns.is_not_null())
    return {
        "period_cycles": tick.period_cycles,
        "handler_cycles": tick.handler_cycles,
        "interrupts_touched": answered["tick"].sum(),
        "controls_touched": interrupts.filter("control")["tick"].sum(),
        "task_wakes_touched": answered.drop_nulls("task_latency_ns")["task_tick"].sum(),
    }


def _latency_agreement(witness: LatencyWitness) -> Json:
    offset, between = witness.offset, witness.between
    compared = witness.compared.with_columns(col.apart_cycles.abs())
    worst = worst_row(compared, "apart_cycles")
    return {
        "n": compared.height,
        "answers": compared["number"].sum(),
        "offset_cycles": offset and offset.cycles,
        "offset_uncertainty_cycles": offset and offset.uncertainty_cycles,
        "worst_disagreement_cycles": worst.get("apart_cycles"),
        "allowed_cycles": worst.get("allowed_cycles"),
        "between_least_ticks": between and between.least_ticks,
        "between_most_ticks": between and between.most_ticks,
    }
