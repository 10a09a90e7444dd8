"""The join of the three witnesses: wire, records and plan, operation by operation.

Operation `seq` is window `seq` on SYNC, record `seq` and row `seq` of the plan. Nothing is matched by
likeness: an operation without its window or without its record is not joined.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from capture.instruments.calibration import MarkerCost, calibrate
from capture.instruments.clocks import CounterFit, fit_counter
from capture.instruments.ticks import find_ticks
from capture.joining.interrupts import interrupts_of
from capture.reading import vectorised
from capture.reading.probes import Probes
from capture.reading.wire import NS_PER_S, PulseTrain, Windows, Wire
from capture.run_folder.records import CalibrationRecord, OperationRecord, RecordLog, TickRecord
from capture.run_folder.tables import OPERATIONS
from scenarios.plan import Plan


@dataclass(frozen=True)
class Join:
    """The joined run: `operations` and `interrupts` as docs/SPEC.md, section 5.

    `stray_windows` are the numbers of joined windows without exactly one whole OP pulse; `critical_pulses`
    counts the CRIT pulses of each joined operation, int64[operations].
    """

    operations: pl.DataFrame
    interrupts: pl.DataFrame
    critical_cost: MarkerCost | None
    operation_cost: MarkerCost | None
    counter: CounterFit | None
    stray_windows: tuple[int, ...]
    critical_pulses: npt.NDArray[np.int64]


def join(wire: Wire, log: RecordLog, plan: Plan, probes: Probes) -> Join:
    """Joins as much as can be proven: records that run 0, 1, 2… as far as both wire and plan reach."""
    records = _provable(log.all(OperationRecord), min(len(wire.operations), plan.operations.height))
    seq = np.array([record.seq for record in records], dtype=np.int64)
    windows = Windows(wire.operations.start[seq], wire.operations.end[seq])
    calibration = log.all(CalibrationRecord)
    critical_cost = calibrate(wire, calibration, "CRIT")
    first, last = wire.critical.indices(windows)
    operations = _operations(wire, windows, records, plan, critical_cost, probes)
    counter = fit_counter(wire, calibration)
    return Join(
        operations=operations,
        interrupts=interrupts_of(wire, windows, seq, find_ticks(wire.run, log.first(TickRecord), counter)),
        critical_cost=critical_cost,
        operation_cost=calibrate(wire, calibration, "OP"),
        counter=counter,
        stray_windows=tuple(seq[~_one_whole_pulse(wire.operation, windows)].tolist()),
        critical_pulses=(last - first).astype(np.int64),
    )


def _provable(records: tuple[OperationRecord, ...], limit: int) -> list[OperationRecord]:
    """The records below `limit` up to the first whose number does not exceed its predecessor's."""
    provable: list[OperationRecord] = []
    for record in records:
        if record.seq >= limit or (provable and record.seq <= provable[-1].seq):
            break
        provable.append(record)
    return provable


def _one_whole_pulse(pulses: PulseTrain, windows: Windows) -> npt.NDArray[np.bool_]:
    first, last = pulses.indices(windows)
    one: npt.NDArray[np.bool_] = last - first == 1
    one[one] = pulses.end[first[one]] <= windows.end[one]
    return one


def _operations(
    wire: Wire,
    windows: Windows,
    records: list[OperationRecord],
    plan: Plan,
    cost: MarkerCost | None,
    probes: Probes,
) -> pl.DataFrame:
    seq = [record.seq for record in records]
    planned = plan.operations[seq] if seq else plan.operations.clear()
    columns = {
        **_witnessed(records),
        "probes": pl.Series([probes.of(record.seq, record.probes) for record in records], dtype=pl.UInt32),
        **_seen(wire, windows),
        **{name: planned[name] for name in ("measured", "label", "trial", "depth")},
    }
    frame = pl.DataFrame(columns).with_columns(
        disagreement_cycles=pl.lit(None, dtype=pl.Float64), trials_minimum_cycles=_trials_minimum()
    )
    if cost is not None:
        frame = frame.with_columns(disagreement_cycles=_disagreement(wire, cost))
    return frame.select(pl.col(name).cast(dtype) for name, dtype in OPERATIONS.items())


def _trials_minimum() -> pl.Expr:
    """The least cycles of the trials at the same depth: what a report of the best trial would show."""
    is_trial = pl.col("measured") & pl.col("trial").is_not_null()
    trials = pl.when(is_trial).then(pl.col("dwt_cycles"))
    return pl.when(is_trial).then(trials.min().over("depth"))


def _witnessed(records: list[OperationRecord]) -> dict[str, pl.Series]:
    """The columns that come from the records."""
    sources = {
        "seq": "seq",
        "kind": "kind",
        "size": "size",
        "dwt_cycles": "critical_cycles",
        "dwt_operation_cycles": "operation_cycles",
        "live": "live",
        "bytes_in_use": "bytes_in_use",
    }
    return {
        column: pl.Series([getattr(record, source) for record in records], dtype=OPERATIONS[column])
        for column, source in sources.items()
    }


def _seen(wire: Wire, windows: Windows) -> dict[str, pl.Series]:
    """The columns that come from the wire; null where the window holds no pulse."""
    ns_per_sample = NS_PER_S / wire.edges.samplerate_hz
    critical = _null_where_absent(wire.critical, windows, wire.critical.widths_in(windows))
    operation = _null_where_absent(wire.operation, windows, wire.operation.widths_in(windows))
    return {
        "wire_critical_samples": critical,
        "wire_critical_ns": critical * ns_per_sample,
        "critical_pulses": pl.Series(np.subtract(*reversed(wire.critical.indices(windows)))),
        "wire_operation_samples": operation,
        "wire_operation_ns": operation * ns_per_sample,
        "start_sample": _null_where_absent(wire.operation, windows, _first_start(wire.operation, windows)),
        "control_hits": pl.Series(_rises_while_high(wire, "CISR", "CRIT", windows)),
        "isr_hits": pl.Series(_rises_while_high(wire, "ISR", "OP", windows)),
    }


def _null_where_absent(pulses: PulseTrain, windows: Windows, values: npt.NDArray[np.int64]) -> pl.Series:
    first, last = pulses.indices(windows)
    return pl.select(pl.when(pl.Series(last > first)).then(pl.Series(values, dtype=pl.Int64))).to_series()


def _first_start(pulses: PulseTrain, windows: Windows) -> npt.NDArray[np.int64]:
    """Sample at which the first pulse of each window starts; any number where there is none."""
    first, _ = pulses.indices(windows)
    return np.append(pulses.start, -1)[first]


def _rises_while_high(wire: Wire, rising: str, high: str, windows: Windows) -> npt.NDArray[np.int64]:
    """How often `rising` rises in each window while `high` is high: int64[windows]."""
    edges = wire.edges.transitions(rising)
    rises = edges.sample[edges.level]
    rises = rises[vectorised.level_at(wire.edges, high, rises)]
    counts: npt.NDArray[np.int64] = np.searchsorted(rises, windows.end) - np.searchsorted(
        rises, windows.start
    )
    return counts


def _disagreement(wire: Wire, cost: MarkerCost) -> pl.Expr:
    """Wire minus DWT of the critical section; the markers' cost counts once for each pulse of the section."""
    wire_cycles = pl.col("wire_critical_samples") / wire.samples_per_cycle
    markers = pl.col("critical_pulses") * cost.wire_minus_dwt_cycles
    return wire_cycles - markers - pl.col("dwt_cycles")
