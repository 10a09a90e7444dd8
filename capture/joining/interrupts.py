"""The interrupts of a run: one row per stimulus, with its answer and what it fell into.

The columns are those of docs/reference/interrupts.md. Stimuli and answers lie between the frames.
What the calibration drives outside of them is neither.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from base.run_folder.edges import Levels, Samples
from base.run_folder.tables import HITS, INTERRUPTS
from capture.instruments.ticks import Ticks
from capture.reading.vectorised import Windows, surely_high_within
from capture.reading.waits import Waits
from capture.reading.wire import Wire


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
