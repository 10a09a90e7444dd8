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
from capture.reading.pulses import Windows
from capture.reading.vectorised import responses, surely_high_within
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


def _interrupts(
    wire: Wire, windows: Windows, seq: Samples, ticks: Ticks | None, kind: _Class
) -> pl.DataFrame:
    edges = wire.until_end
    found = responses(edges, kind.stimulus, kind.answer)
    sample, answer = found.stimulus_sample, found.answer_sample
    woken = responses(edges, kind.stimulus, kind.task).answer_sample if kind.task else None
    in_operation, operation_sure = surely_high_within(edges, "OP", sample, sample, wire.undecided_samples)
    in_critical, critical_sure = surely_high_within(edges, "CRIT", sample, answer, wire.undecided_samples)
    columns = {
        "control": pl.Series(np.full(len(sample), kind is _CONTROL)),
        "sample": pl.Series(sample),
        "time_ns": pl.Series(sample * edges.sample_ns),
        "isr_latency_ns": _latency_ns(sample, answer, edges.sample_ns),
        "task_latency_ns": _latency_ns(sample, woken, edges.sample_ns),
        "operation_seq": _operation_at(windows, seq, sample, in_operation),
        "hit": _hit(in_critical, in_operation),
        "critical_sure": pl.Series(critical_sure),
        "operation_sure": pl.Series(operation_sure),
        "missed": pl.Series(found.missed),
        **_tick_columns(ticks, sample, answer, woken),
    }
    frame = pl.DataFrame(columns).select(pl.col(name).cast(dtype) for name, dtype in INTERRUPTS.items())
    return frame.filter(pl.col("sample") >= wire.first_sample)


def _hit(in_critical: Levels, in_operation: Levels) -> pl.Series:
    """What each stimulus fell into: one of HITS."""
    return pl.Series(HITS).gather(np.where(in_critical, 0, np.where(in_operation, 1, 2)))


def _latency_ns(stimulus: Samples, answer: Samples | None, sample_ns: float) -> pl.Series:
    """From each stimulus to its answer; null where none came (-1), or none can come."""
    if answer is None:
        return _nulls(stimulus)
    latency = pl.Series((answer - stimulus) * sample_ns)
    return pl.select(pl.when(pl.Series(answer >= 0)).then(latency)).to_series()


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
