"""run.json: what ran, what came out, and whether it may be believed (docs/SPEC.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from capture.baselines import baseline
from capture.budget import pin_cost_cycles
from capture.dispersion import intervals
from capture.evidence import Evidence
from capture.join import NS_PER_S
from capture.maxima import maximum
from capture.quantities import QUANTITIES, of_each
from capture.records import Boot, CostRecord, EndRecord, HeapRecord, StatRecord, TickRecord
from capture.skew import skew_between
from capture.verdict import judge
from capture.wire import COMMON_CHANNELS, Samples, Wire
from decoders.vectorised import fit_clock
from firmware.catalogue import allocators
from metrology.quantiles import Summary, summarise

SCHEMA = 1
SKEW_REFERENCE = "STIM"


@dataclass(frozen=True)
class Setting:
    """Where a run took place: names as in bench.toml, the firmware's digest, versions of the tools."""

    allocator: str
    board: str
    analyzer: str
    elf_sha256: str
    tools: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()


def summarise_run(evidence: Evidence, setting: Setting) -> dict[str, Any]:
    """The whole content of run.json, ready for JSON."""
    plan, edges = evidence.plan, evidence.edges
    verdict, reasons = judge(evidence)
    return {
        "schema": SCHEMA,
        "scenario": plan.name,
        "parameters": plan.parameters,
        "ramp": plan.ramp,
        "allocator": setting.allocator,
        "board": setting.board,
        "analyzer": setting.analyzer,
        "samplerate_hz": edges.samplerate_hz,
        "total_samples": edges.total_samples,
        "asked_samples": evidence.tools.asked_samples,
        "verdict": verdict,
        "reasons": list(reasons),
        "seed": plan.seed,
        "stimulus": {
            "mode": plan.stimulus.mode,
            "period_ticks": plan.stimulus.period_ticks,
            "control_period_ticks": plan.stimulus.control_period_ticks,
        },
        "firmware": _firmware(evidence, setting),
        "records": plan.records,
        **_build_choices(evidence),
        "image_crc32": f"{plan.image_crc32:08X}",
        "counts": _counts(evidence.joined.operations),
        "probes_source": evidence.probes.source,
        **_statistics(evidence),
        "error_budget": _error_budget(evidence),
        "intervals": intervals(evidence.joined.operations, evidence.joined.interrupts, plan.ramp),
        "maxima": _maxima(evidence),
        "baselines": _baselines(evidence),
        "interrupts": _interrupt_counts(evidence),
        "calibration": _calibration(evidence),
        "clock": _clock(evidence),
        "tick": _tick(evidence),
        "agreement": _agreement(evidence),
        "serial": _serial(evidence),
        "tools": dict(setting.tools),
        "tool_report": {
            "interrupted": evidence.tools.interrupted,
            "losses": list(evidence.tools.losses),
            "oddities": list(evidence.tools.oddities),
        },
        "warnings": list(dict.fromkeys([*setting.warnings, *_warnings(evidence)])),
    }


def _firmware(evidence: Evidence, setting: Setting) -> dict[str, Any]:
    boot = evidence.log.first(Boot)
    return {
        "elf_sha256": setting.elf_sha256,
        "kernel": boot.kernel if boot else None,
        "heap_bytes": boot.heap_bytes if boot else None,
        "core_hz": boot.core_hz if boot else None,
        "flash_acr": f"{boot.flash_acr:08X}" if boot else None,
        "free_blocks_at_start": boot.free_blocks if boot else None,
    }


def _build_choices(evidence: Evidence) -> dict[str, Any]:
    """How the heap held others off, and the allocator's knobs: all, and those not at their default."""
    boot = evidence.log.first(Boot)
    words = (word.partition("=") for word in boot.knobs.split("/")) if boot else ()
    knobs = {name: value for name, separator, value in words if separator}
    row = allocators().get(boot.allocator) if boot else None
    usual = {name: str(value) for name, value in row.knobs.items()} if row else {}
    return {
        "locking": boot.locking if boot else None,
        "knobs": knobs,
        "turned_knobs": {name: value for name, value in knobs.items() if usual.get(name) != value},
    }


def _counts(operations: pl.DataFrame) -> dict[str, int]:
    kinds = dict(operations.group_by("kind").len().iter_rows())
    return {
        "operations": operations.height,
        "allocations": kinds.get("A", 0),
        "frees": kinds.get("F", 0),
        "out_of_memory": kinds.get("O", 0),
        "nothing_to_free": kinds.get("N", 0),
        "refused": kinds.get("E", 0),
    }


def _statistics(evidence: Evidence) -> dict[str, Summary]:
    joined = evidence.joined
    return of_each(
        joined.operations, joined.interrupts, lambda quantity, samples: summarise(samples[quantity.column])
    )


def _interrupt_counts(evidence: Evidence) -> dict[str, int | None]:
    interrupts = evidence.joined.interrupts
    stimuli = interrupts.filter(~pl.col("control"))
    stat = evidence.log.first(StatRecord)
    return {
        "stimuli": stimuli.height,
        "answered": stimuli["isr_latency_ns"].count(),
        "missed": int(stimuli["missed"].sum()),
        "isr_entries": stat.isr_entries if stat else None,
        "task_wakes": stat.task_wakes if stat else None,
        "control_stimuli": interrupts.height - stimuli.height,
        "control_entries": stat.control_entries if stat else None,
        "preempted_operations": stat.preempted_operations if stat else None,
    }


def _maxima(evidence: Evidence) -> dict[str, Any]:
    operations = evidence.joined.operations
    return of_each(
        operations, evidence.joined.interrupts, lambda quantity, rows: maximum(quantity, rows, operations)
    )


def _baselines(evidence: Evidence) -> dict[str, Any]:
    joined, sample_ns = evidence.joined, NS_PER_S / evidence.edges.samplerate_hz
    return {
        quantity.key: baseline(quantity, joined.interrupts, joined.critical_cost, sample_ns)
        for quantity in QUANTITIES
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
        "pulses": sum(len(train.start) for end in ends for train in end.sections.values()),
        "counter_read_cycles": _cost(evidence, "READ"),
        "pin_raise_cycles": pin_cost_cycles(evidence.log),
        "skew_samples": {channel: _skew(evidence, channel) for channel in COMMON_CHANNELS},
    }


def _cost(evidence: Evidence, instrument: str) -> int | None:
    costs = [cost.most_cycles for cost in evidence.log.all(CostRecord) if cost.instrument == instrument]
    return max(costs, default=None)


def _skew(evidence: Evidence, channel: str) -> dict[str, float] | None:
    skew = skew_between(evidence.wire, SKEW_REFERENCE, channel)
    return None if skew is None else asdict(skew)


def _clock(evidence: Evidence) -> dict[str, float | int | None]:
    wire, counter = evidence.wire, evidence.joined.counter
    return {
        "samples_per_cycle_nominal": wire.samples_per_cycle_nominal,
        "ratio": wire.clock.ratio if wire.clock else None,
        "ratio_uncertainty": wire.clock.ratio_uncertainty if wire.clock else None,
        "residual_max_samples": wire.clock.residual_max_samples if wire.clock else None,
        "ratio_start": _ratio_of(wire, wire.start_frame, None),
        "ratio_end": _ratio_of(wire, None, wire.end_frame),
        "ratio_by_dwt": counter.ratio if counter else None,
        "ratio_by_dwt_uncertainty": counter.ratio_uncertainty if counter else None,
        "residual_by_dwt_max_samples": counter.residual_max_samples if counter else None,
        "start_edges": 0 if wire.start_frame is None else len(wire.start_frame),
        "end_edges": 0 if wire.end_frame is None else len(wire.end_frame),
    }


def _ratio_of(wire: Wire, start: Samples | None, end: Samples | None) -> float | None:
    """The clock ratio of one frame alone."""
    if start is None and end is None:
        return None
    return fit_clock(start, end, wire.core_hz, wire.edges.samplerate_hz).ratio


def _tick(evidence: Evidence) -> dict[str, int] | None:
    """The kernel's tick, and how many answered interrupts it may have delayed."""
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


def _serial(evidence: Evidence) -> dict[str, int | bool]:
    log = evidence.log
    return {
        "bytes": log.byte_count,
        "records": len(log.records),
        "checksum_failures": len(log.damaged),
        "sequence_gaps": log.sequence_gaps,
        "end_record": log.first(EndRecord) is not None,
    }


def _warnings(evidence: Evidence) -> list[str]:
    """What a reader should know and what does not touch the verdict."""
    found = []
    boot, heap = evidence.log.first(Boot), evidence.log.first(HeapRecord)
    if evidence.log.preamble:
        found.append(
            f"{len(evidence.log.preamble)} lines came before BOOT; they belong to no run and were ignored."
        )
    if boot and heap and heap.free_bytes > boot.free_bytes:
        found.append(
            f"The heap ended with {heap.free_bytes} free bytes, more than the {boot.free_bytes} at the start."
        )
    if evidence.probes.source == "not counted":
        found.append(
            "Nobody counted probes: the allocator does not, and only the virtual board can from outside."
        )
    if evidence.edges.samplerate_hz < evidence.wire.core_hz:
        sample_ns = NS_PER_S / evidence.edges.samplerate_hz
        found.append(
            f"A sample lasts {sample_ns:.1f} ns, more than a core cycle: the wire tells nothing finer."
        )
    return found
