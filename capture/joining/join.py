"""The join of the three witnesses, operation by operation: wire, records and plan; and of the
stimuli with what they fell into.

Operation `seq` is window `seq` on SYNC, record `seq` and row `seq` of the plan. Nothing is matched
by likeness: an operation without its window or without its record is not joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from polars import col

from base.run_folder.edges import Samples
from base.run_folder.quantities import QUANTITIES
from base.run_folder.records import (
    ALLOCATION_KINDS,
    Boot,
    CalibrationRecord,
    CounterOffRecord,
    InterruptsRecord,
    OperationRecord,
    RecordLog,
    TickRecord,
)
from base.run_folder.tables import HITS, INTERRUPTS, OPERATIONS, PLAN
from capture.instruments.calibration import CounterFit, MarkerCost, calibrate, fit_counter
from capture.instruments.timers import Ticks, find_ticks
from capture.reading.probes import Instructions, Probes
from capture.reading.vectorised import Waits, Windows, level_at, surely_high_within
from capture.reading.wire import Wire
from scenarios.plan import Plan


def _of_stimuli(wire: Wire, sample: Samples, waits: Waits) -> pl.DataFrame:
    """`waits` beside the stimuli at `sample`, int64[n]: null where none began at the stimulus.

    `answer` is the answer's sample, or where the capture ended.
    """
    begin, end, merged = waits.stimulus, waits.answer, waits.merged
    if waits.open:
        begin, end = np.append(begin, waits.open.since), np.append(end, wire.until_end.total_samples)
        merged = np.append(merged, waits.open.merged)
    table = pl.DataFrame({"sample": begin, "answer": end, "merged": merged})
    table = table.with_row_index().with_columns(open=col.index >= len(waits.stimulus))
    return pl.DataFrame({"sample": sample}).join(table, on="sample", how="left", maintain_order="left")


def interrupt_table(wire: Wire, windows: Windows, seq: Samples, ticks: Ticks | None) -> pl.DataFrame:
    """The table, in the order of time; `seq` int64[n] numbers the operations of `windows`.

    Of a tick it has the phase of each stimulus to it, and whether one may have delayed what
    followed; null where that is not known. An answer that never came counts as one at the stimulus.
    """
    edges, undecided = wire.until_end, wire.undecided_samples
    frames = []
    for stimulus, *answers in (("STIM", "ISR", "TASK"), ("CTRL", "CISR")):
        sample = wire.edges_of(stimulus)
        in_operation, operation_sure = surely_high_within(edges, "OP", sample, sample, undecided)
        index = np.searchsorted(windows.start, sample, side="right") - 1
        inside = in_operation & (sample < np.append(windows.end, -1)[index])
        columns: dict[str, Any] = {
            "control": pl.repeat(stimulus == "CTRL", len(sample), eager=True),
            "sample": sample,
            "time_ns": sample * edges.sample_ns,
            # Null outside of all operations that are joined.
            "operation_seq": pl.Series(np.append(seq, 0)[index]).set(pl.Series(~inside), None),
            "operation_sure": operation_sure,
        }
        if ticks:
            columns["tick_phase_cycles"] = ticks.phase_cycles(sample)
        for answer, kind, tick in zip(answers, ("isr", "task"), ("tick", "task_tick"), strict=False):
            waits = _of_stimuli(wire, sample, wire.waits(stimulus, answer))
            columns[f"{kind}_latency_ns"] = (waits["answer"] - waits["sample"]) * edges.sample_ns
            columns[f"{kind}_merged"], columns[f"{kind}_open"] = waits["merged"], waits["open"]
            until = waits["answer"].fill_null(-1).to_numpy()
            if kind == "isr":
                in_critical, sure = surely_high_within(edges, "CRIT", sample, until, undecided)
                hit = np.where(in_critical, 0, np.where(in_operation, 1, 2))
                columns |= {"hit": pl.Series(HITS).gather(hit), "critical_sure": sure}
            if ticks:
                columns[tick] = ticks.handler_may_run(sample, np.maximum(sample, until))
        nulls = pl.repeat(None, len(sample), dtype=pl.Null, eager=True)
        frames.append(pl.DataFrame({name: columns.get(name, nulls) for name in INTERRUPTS}).cast(INTERRUPTS))
    return pl.concat(frames).sort("sample", "control", maintain_order=True)


# The join of the three witnesses, operation by operation: wire, records and plan.


@dataclass(frozen=True)
class Join:
    """The joined run.

    `operations` and `interrupts` are the tables of docs/reference/operations.md. The costs of the
    markers and the fit of the counter are None where the calibration is not whole, and so are the
    ticks, which take their record too. `stray_windows`
    are the numbers of the joined operations whose window does not hold exactly one whole OP pulse.
    `critical_pulses` counts the CRIT pulses of each joined operation, int64[operations].
    """

    operations: pl.DataFrame
    interrupts: pl.DataFrame
    critical_cost: MarkerCost | None
    operation_cost: MarkerCost | None
    counter: CounterFit | None
    ticks: Ticks | None
    stray_windows: tuple[int, ...]
    critical_pulses: pl.Series

    @cached_property
    def samples(self) -> dict[str, pl.DataFrame]:
        """The rows that have each quantity, by its key: several figures are drawn from them."""
        return {quantity.key: quantity.samples(self.operations, self.interrupts) for quantity in QUANTITIES}


def join(wire: Wire, log: RecordLog, plan: Plan, probes: Probes, instructions: Instructions) -> Join:
    """Joins as much of a run as can be proven, and calibrates what the join needs."""
    records: list[OperationRecord] = []
    for record in log.all(OperationRecord):  # as long as their numbers increase and have a window
        if record.seq >= min(len(wire.windows), plan.operations.height):
            break
        if records and record.seq <= records[-1].seq:
            break
        records.append(record)
    seq = np.array([record.seq for record in records], dtype=np.int64)
    windows = Windows(wire.windows.start[seq], wire.windows.end[seq])
    calibration = log.all(CalibrationRecord)
    cost = calibrate(wire, calibration, "CRIT")
    counter = fit_counter(wire, calibration, stood=bool(log.all(CounterOffRecord)))
    ticks = find_ticks(wire.until_end, log.first(TickRecord), counter)
    boot = log.first(Boot)
    planned = plan.operations[seq] if records else plan.operations.clear()
    critical_pulses = pl.Series(wire.critical.counts_in(windows))
    columns = {
        **_columns_of_records(log, records),
        "probes": [probes.of(record.seq, record.probes) for record in records],
        "instructions": [instructions.of.get(record.seq) for record in records],
        **_columns_of_wire(wire, windows, ticks if boot and boot.locking == "scheduler" else None),
        **{name: planned[name] for name in PLAN if name != "seq"},
    }
    operations = pl.DataFrame(columns, schema_overrides={name: OPERATIONS[name] for name in columns})
    # Wire minus DWT of the critical section, in cycles, without what the markers of each of its
    # pulses cost. Null where that is not known.
    apart: pl.Expr = pl.lit(None, dtype=pl.Float64)
    if cost is not None:
        markers = critical_pulses * cost.wire_minus_dwt_cycles
        apart = col.wire_critical_samples / wire.samples_per_cycle - markers - col.dwt_cycles
    # The least cycles of the measured trials at a depth: what a report of the best trial shows.
    is_trial = col.measured & col.trial.is_not_null() & col.kind.is_in(ALLOCATION_KINDS)
    least = pl.when(is_trial).then(col.dwt_cycles).min().over("depth")
    operations = operations.with_columns(
        disagreement_cycles=apart, trials_minimum_cycles=pl.when(is_trial).then(least)
    )
    # Whether each window holds exactly one pulse of OP, from its rise to its fall.
    first, after = wire.operation.ranges_in(windows)
    whole = (after == first + 1) & (np.append(wire.operation.end, 0)[first] <= windows.end)
    return Join(
        operations=operations.select(*OPERATIONS).cast(OPERATIONS),
        interrupts=interrupt_table(wire, windows, seq, ticks),
        critical_cost=cost,
        operation_cost=calibrate(wire, calibration, "OP"),
        counter=counter,
        ticks=ticks,
        stray_windows=tuple(seq[~whole].tolist()),
        critical_pulses=critical_pulses,
    )


def _columns_of_records(log: RecordLog, records: Sequence[OperationRecord]) -> dict[str, list[object]]:
    """What the records say, and the timers' answers of each operation; without cycles of those
    during which the cycle counter stood.
    """
    stood = {record.seq for record in log.all(CounterOffRecord) if record.operations}
    counted = {"dwt_cycles": "critical_cycles", "dwt_operation_cycles": "operation_cycles"}
    met = {record.seq: record for record in log.all(InterruptsRecord)}
    none = 0 if log.first(Boot) else None
    columns: dict[str, list[object]] = {
        name: [getattr(record, name) for record in records]
        for name in ("seq", "kind", "size", "live", "bytes_in_use")
    }
    for name, field in counted.items():
        columns[name] = [None if record.seq in stood else getattr(record, field) for record in records]
    for name in OPERATIONS:
        if name.startswith("timer_"):
            field = name.removeprefix("timer_")
            columns[name] = [getattr(met.get(record.seq), field, none) for record in records]
    return columns


def _columns_of_wire(wire: Wire, windows: Windows, ticks: Ticks | None) -> dict[str, pl.Series]:
    """What the wire shows of each operation; null where its window holds no such pulse.

    It was `interrupted` where an interrupt ran within its section: the control, or under a lock
    that lets them the others. `ticks` are those of such a lock; None where it holds the tick off.
    """
    first, after = wire.critical.ranges_in(windows)
    control, others = (_rises_while_high(wire, channel, "CRIT", windows) for channel in ("CISR", "ISR"))
    within = control + others > 0
    if ticks is not None and len(wire.critical):
        begin, end = np.append(wire.critical.start, 0)[first], wire.critical.end[np.maximum(after, 1) - 1]
        within |= ticks.handler_may_run(begin, end) & (after > first)
    # Null in a window without a pulse, which alone has a width of 0.
    critical, longest, operation = (
        pl.Series(widths).replace(0, None)
        for widths in (
            wire.critical.widths_in(windows),
            wire.critical.longest_in(windows),
            wire.operation.widths_in(windows),
        )
    )
    starts = np.append(wire.operation.start, -1)[wire.operation.ranges_in(windows)[0]]
    return {
        "wire_critical_samples": critical,
        "wire_critical_ns": critical * wire.edges.sample_ns,
        "wire_section_ns": longest * wire.edges.sample_ns,
        "wire_operation_samples": operation,
        "wire_operation_ns": operation * wire.edges.sample_ns,
        "start_sample": pl.Series(starts).set(operation.is_null(), None),
        "control_hits": pl.Series(control),
        "isr_hits": pl.Series(_rises_while_high(wire, "ISR", "OP", windows)),
        "interrupted": pl.Series(within),
    }


def _rises_while_high(wire: Wire, rising: str, high: str, windows: Windows) -> Samples:
    """How often `rising` rises in each window while `high` is high: int64[windows]."""
    edges = wire.edges.transitions(rising)
    rises = edges.sample[edges.level]
    rises = rises[level_at(wire.edges, high, rises)]
    return np.searchsorted(rises, windows.end) - np.searchsorted(rises, windows.start)
