"""The join of the three witnesses, operation by operation: wire, records and plan; and of the
stimuli with what they fell into.

Operation `seq` is window `seq` on SYNC, record `seq` and row `seq` of the plan. Nothing is matched
by likeness: an operation without its window or without its record is not joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from base.run_folder.edges import Levels, Samples
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
from capture.instruments.calibration import MarkerCost, calibrate
from capture.instruments.clocks import CounterFit, fit_counter
from capture.instruments.ticks import Ticks, find_ticks
from capture.reading import vectorised
from capture.reading.probes import Instructions, Probes
from capture.reading.vectorised import PulseTrain, Windows, surely_high_within
from capture.reading.waits import Waits
from capture.reading.wire import Wire
from scenarios.plan import Plan


class _Class(NamedTuple):
    """A class of interrupts: the channels of its stimulus, its answer and its task."""

    stimulus: str
    answer: str
    task: str | None


_MASKABLE = _Class("STIM", "ISR", "TASK")
_CONTROL = _Class("CTRL", "CISR", None)


def interrupt_table(wire: Wire, windows: Windows, seq: Samples, ticks: Ticks | None) -> pl.DataFrame:
    """The table, in the order of time; `seq` int64[n] numbers the operations of `windows`."""
    frames = [_interrupts(wire, windows, seq, ticks, kind) for kind in (_MASKABLE, _CONTROL)]
    return pl.concat(frames).sort("sample", "control", maintain_order=True)


class _OfStimuli(NamedTuple):
    """The waits of one answer, by stimulus: null, and -1, where none began at the stimulus.

    `answer` int64[n] is the answer's sample, or where the capture ended.
    """

    answer: Samples
    latency_ns: pl.Series
    merged: pl.Series
    open: pl.Series


def _of_stimuli(wire: Wire, sample: Samples, waits: Waits) -> _OfStimuli:
    """`waits` as columns beside the stimuli at `sample`, int64[n]."""
    begin, end, merged = waits.stimulus, waits.answer, waits.merged
    if waits.open:
        begin, end = np.append(begin, waits.open.since), np.append(end, wire.until_end.total_samples)
        merged = np.append(merged, waits.open.merged)
    at = np.searchsorted(sample, begin)
    answer = np.full(len(sample), -1)
    answer[at] = end
    is_open = np.zeros(len(sample), dtype=np.bool_)
    is_open[at[len(waits.stimulus) :]] = True
    count = np.zeros(len(sample), dtype=np.int64)
    count[at] = merged
    began = pl.Series(answer >= 0)
    columns = (pl.Series((answer - sample) * wire.edges.sample_ns), pl.Series(count), pl.Series(is_open))
    return _OfStimuli(answer, *(pl.select(pl.when(began).then(column)).to_series() for column in columns))


def _interrupts(
    wire: Wire, windows: Windows, seq: Samples, ticks: Ticks | None, kind: _Class
) -> pl.DataFrame:
    edges, sample = wire.until_end, wire.edges_of(kind.stimulus)
    isr = _of_stimuli(wire, sample, wire.waits(kind.stimulus, kind.answer))
    task = _of_stimuli(wire, sample, wire.waits(kind.stimulus, kind.task)) if kind.task else None
    in_operation, operation_sure = surely_high_within(edges, "OP", sample, sample, wire.undecided_samples)
    in_critical, critical_sure = surely_high_within(edges, "CRIT", sample, isr.answer, wire.undecided_samples)
    none = _nulls(sample)
    columns = {
        "control": pl.Series(np.full(len(sample), kind is _CONTROL)),
        "sample": pl.Series(sample),
        "time_ns": pl.Series(sample * edges.sample_ns),
        "isr_latency_ns": isr.latency_ns,
        "task_latency_ns": task.latency_ns if task else none,
        "operation_seq": _operation_at(windows, seq, sample, in_operation),
        "hit": _hit(in_critical, in_operation),
        "critical_sure": pl.Series(critical_sure),
        "operation_sure": pl.Series(operation_sure),
        "isr_merged": isr.merged,
        "isr_open": isr.open,
        "task_merged": task.merged if task else none,
        "task_open": task.open if task else none,
        **_tick_columns(ticks, sample, isr.answer, task.answer if task else None),
    }
    return pl.DataFrame(columns).select(pl.col(name).cast(dtype) for name, dtype in INTERRUPTS.items())


def _hit(in_critical: Levels, in_operation: Levels) -> pl.Series:
    """What each stimulus fell into: one of HITS."""
    return pl.Series(HITS).gather(np.where(in_critical, 0, np.where(in_operation, 1, 2)))


def _operation_at(windows: Windows, seq: Samples, sample: Samples, in_operation: Levels) -> pl.Series:
    """The joined operation in whose OP pulse each sample falls; null outside of all."""
    index = np.searchsorted(windows.start, sample, side="right") - 1
    inside = in_operation & (index >= 0)
    inside[inside] &= sample[inside] < windows.end[index[inside]]
    number = pl.Series(np.append(seq, 0)[index], dtype=pl.Int64)
    return pl.select(pl.when(pl.Series(inside)).then(number)).to_series()


def _tick_columns(
    ticks: Ticks | None, stimulus: Samples, answer: Samples, woken: Samples | None
) -> dict[str, pl.Series]:
    """The phase of each stimulus to the tick, and whether a tick may have delayed what followed.

    Null where that is not known. An answer that never came (-1) counts as one at the stimulus.
    """
    if ticks is None:
        return dict.fromkeys(("tick_phase_cycles", "tick", "task_tick"), _nulls(stimulus))

    def may_be_delayed(until: Samples) -> pl.Series:
        return pl.Series(ticks.handler_may_run(stimulus, np.maximum(stimulus, until)))

    return {
        "tick_phase_cycles": pl.Series(ticks.phase_cycles(stimulus)),
        "tick": may_be_delayed(answer),
        "task_tick": _nulls(stimulus) if woken is None else may_be_delayed(woken),
    }


def _nulls(rows: Samples) -> pl.Series:
    return pl.repeat(None, len(rows), dtype=pl.Null, eager=True)


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
    critical_pulses: npt.NDArray[np.int64]

    @cached_property
    def samples(self) -> dict[str, pl.DataFrame]:
        """The rows that have each quantity, by its key: several figures are drawn from them."""
        return {quantity.key: quantity.samples(self.operations, self.interrupts) for quantity in QUANTITIES}


_OF_COUNTER = ("dwt_cycles", "dwt_operation_cycles")


def join(wire: Wire, log: RecordLog, plan: Plan, probes: Probes, instructions: Instructions) -> Join:
    """Joins as much of a run as can be proven, and calibrates what the join needs."""
    records = _joinable(log.all(OperationRecord), min(len(wire.windows), plan.operations.height))
    seq = np.array([record.seq for record in records], dtype=np.int64)
    windows = Windows(wire.windows.start[seq], wire.windows.end[seq])
    calibration = log.all(CalibrationRecord)
    critical_cost = calibrate(wire, calibration, "CRIT")
    counter = fit_counter(wire, calibration, stood=bool(log.all(CounterOffRecord)))
    ticks = find_ticks(wire.until_end, log.first(TickRecord), counter)
    return Join(
        operations=_operation_table(
            wire, windows, log, records, plan, critical_cost, ticks, probes, instructions
        ),
        interrupts=interrupt_table(wire, windows, seq, ticks),
        critical_cost=critical_cost,
        operation_cost=calibrate(wire, calibration, "OP"),
        counter=counter,
        ticks=ticks,
        stray_windows=tuple(seq[~_one_whole_pulse(wire.operation, windows)].tolist()),
        critical_pulses=wire.critical.counts_in(windows),
    )


def _joinable(records: Sequence[OperationRecord], limit: int) -> list[OperationRecord]:
    """The first records, as long as their numbers increase and stay below `limit`."""
    joinable: list[OperationRecord] = []
    for record in records:
        if record.seq >= limit or (joinable and record.seq <= joinable[-1].seq):
            break
        joinable.append(record)
    return joinable


def _one_whole_pulse(pulses: PulseTrain, windows: Windows) -> Levels:
    """Whether each window holds exactly one pulse, from its rise to its fall: bool[windows]."""
    array: Levels = pulses.counts_in(windows) == 1
    first, _ = pulses.ranges_in(windows)
    array[array] = pulses.end[first[array]] <= windows.end[array]
    return array


def _operation_table(
    wire: Wire,
    windows: Windows,
    log: RecordLog,
    records: list[OperationRecord],
    plan: Plan,
    cost: MarkerCost | None,
    ticks: Ticks | None,
    probes: Probes,
    instructions: Instructions,
) -> pl.DataFrame:
    boot = log.first(Boot)
    columns = {
        **_columns_of_records(records, _without_counter(log)),
        "probes": pl.Series([probes.of(record.seq, record.probes) for record in records], dtype=pl.UInt32),
        "instructions": pl.Series(
            [instructions.of.get(record.seq) for record in records], dtype=OPERATIONS["instructions"]
        ),
        **_columns_of_wire(wire, windows),
        "interrupted": _interrupted(wire, windows, ticks if boot and boot.locking == "scheduler" else None),
        "critical_pulses": pl.Series(wire.critical.counts_in(windows)),
        **_columns_of_timers(log, [record.seq for record in records]),
        **_columns_of_plan(plan, [record.seq for record in records]),
    }
    frame = pl.DataFrame(columns).with_columns(
        disagreement_cycles=_disagreement(wire, cost), trials_minimum_cycles=_trials_minimum()
    )
    return frame.select(pl.col(name).cast(dtype) for name, dtype in OPERATIONS.items())


def _without_counter(log: RecordLog) -> set[int]:
    """The numbers of the operations during which the cycle counter stood."""
    return {record.seq for record in log.all(CounterOffRecord) if record.operations}


def _columns_of_records(records: list[OperationRecord], without: set[int]) -> dict[str, pl.Series]:
    """What the records say; without cycles of the operations `without` a counter."""
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
        column: pl.Series(
            [
                None if column in _OF_COUNTER and record.seq in without else getattr(record, source)
                for record in records
            ],
            dtype=OPERATIONS[column],
        )
        for column, source in sources.items()
    }


def _columns_of_wire(wire: Wire, windows: Windows) -> dict[str, pl.Series]:
    """What the wire shows of each operation; null where its window holds no such pulse."""
    critical = _where_present(wire.critical, windows, wire.critical.widths_in(windows))
    operation = _where_present(wire.operation, windows, wire.operation.widths_in(windows))
    return {
        "wire_critical_samples": critical,
        "wire_critical_ns": critical * wire.edges.sample_ns,
        "wire_section_ns": _where_present(wire.critical, windows, wire.critical.longest_in(windows))
        * wire.edges.sample_ns,
        "wire_operation_samples": operation,
        "wire_operation_ns": operation * wire.edges.sample_ns,
        "start_sample": _where_present(wire.operation, windows, _first_start(wire.operation, windows)),
        "control_hits": pl.Series(_rises_while_high(wire, "CISR", "CRIT", windows)),
        "isr_hits": pl.Series(_rises_while_high(wire, "ISR", "OP", windows)),
    }


def _interrupted(wire: Wire, windows: Windows, ticks: Ticks | None) -> pl.Series:
    """Whether an interrupt ran within the section of each window: the control, or under a lock that
    lets them the others. `ticks` are those of such a lock; None where it holds the tick off.
    """
    control, others = (_rises_while_high(wire, channel, "CRIT", windows) for channel in ("CISR", "ISR"))
    within: Levels = control + others > 0
    if ticks is not None and len(wire.critical):
        first, after = wire.critical.ranges_in(windows)
        begin, end = np.append(wire.critical.start, 0)[first], wire.critical.end[np.maximum(after, 1) - 1]
        within |= ticks.handler_may_run(begin, end) & (after > first)
    return pl.Series(within)


def _columns_of_timers(log: RecordLog, seq: list[int]) -> dict[str, pl.Series]:
    """The answers of each operation by the timers."""
    interrupts_records = {record.seq: record for record in log.all(InterruptsRecord)}
    none = 0 if log.first(Boot) else None
    names = [name for name in OPERATIONS if name.startswith("timer_")]
    return {
        name: pl.Series(
            [getattr(interrupts_records.get(number), name.removeprefix("timer_"), none) for number in seq],
            dtype=OPERATIONS[name],
        )
        for name in names
    }


def _columns_of_plan(plan: Plan, seq: list[int]) -> dict[str, pl.Series]:
    planned = plan.operations[seq] if seq else plan.operations.clear()
    return {name: planned[name] for name in PLAN if name != "seq"}


def _where_present(pulses: PulseTrain, windows: Windows, values: Samples) -> pl.Series:
    """`values`, null for each window without a pulse."""
    present = pl.Series(pulses.counts_in(windows) > 0)
    return pl.select(pl.when(present).then(pl.Series(values, dtype=pl.Int64))).to_series()


def _first_start(pulses: PulseTrain, windows: Windows) -> Samples:
    """Where the first pulse of each window starts, int64[windows]; any number without one."""
    first, _ = pulses.ranges_in(windows)
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


def _disagreement(wire: Wire, cost: MarkerCost | None) -> pl.Expr:
    """Wire minus DWT of the critical section, in cycles, without what the markers cost.

    The cost counts once for each pulse of the section. Null where it is not known.
    """
    if cost is None:
        return pl.lit(None, dtype=pl.Float64)
    wire_cycles = pl.col("wire_critical_samples") / wire.samples_per_cycle
    markers = pl.col("critical_pulses") * cost.wire_minus_dwt_cycles
    return wire_cycles - markers - pl.col("dwt_cycles")


def _trials_minimum() -> pl.Expr:
    """The least cycles of the measured trials at a depth: what a report of the best trial shows."""
    is_trial = pl.col("measured") & pl.col("trial").is_not_null() & pl.col("kind").is_in(ALLOCATION_KINDS)
    trials = pl.when(is_trial).then(pl.col("dwt_cycles"))
    return pl.when(is_trial).then(trials.min().over("depth"))
