"""The interrupts of a run: one row per stimulus, with its answer and what it met (docs/SPEC.md, section 5).

Stimuli and answers lie between the frames; what the calibration drives outside of them is neither.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from capture.instruments.ticks import Ticks
from capture.reading import vectorised
from capture.reading.wire import NS_PER_S, Windows, Wire
from capture.run_folder.tables import INTERRUPTS


def interrupts_of(
    wire: Wire, windows: Windows, seq: npt.NDArray[np.int64], ticks: Ticks | None
) -> pl.DataFrame:
    """The table, in the order of time; `seq` are the numbers of the operations in `windows`."""
    frames = [
        _stimuli(wire, windows, seq, ticks, stimulus="STIM", answer="ISR", task="TASK"),
        _stimuli(wire, windows, seq, ticks, stimulus="CTRL", answer="CISR", task=None),
    ]
    return pl.concat(frames).sort("sample", "control", maintain_order=True)


def _stimuli(
    wire: Wire,
    windows: Windows,
    seq: npt.NDArray[np.int64],
    ticks: Ticks | None,
    *,
    stimulus: str,
    answer: str,
    task: str | None,
) -> pl.DataFrame:
    edges = wire.run
    found = vectorised.responses(edges, stimulus, answer)
    sample = found.stimulus_sample
    in_operation = vectorised.level_at(edges, "OP", sample)
    in_critical = vectorised.high_within(edges, "CRIT", sample, found.answer_sample)
    woken = vectorised.responses(edges, stimulus, task).answer_sample if task else np.full_like(sample, -1)
    columns = {
        "control": pl.Series([task is None] * len(sample), dtype=pl.Boolean),
        "sample": pl.Series(sample),
        "time_ns": pl.Series(sample * (NS_PER_S / edges.samplerate_hz)),
        "isr_latency_ns": _latency_ns(edges.samplerate_hz, sample, found.answer_sample),
        "task_latency_ns": _latency_ns(edges.samplerate_hz, sample, woken),
        "operation_seq": _operation_at(windows, seq, sample, in_operation),
        "hit": pl.Series(np.where(in_critical, "critical", np.where(in_operation, "operation", "none"))),
        "missed": pl.Series(found.missed),
        **_ticks(ticks, sample, found.answer_sample, woken if task else None),
    }
    frame = pl.DataFrame(columns).select(pl.col(name).cast(dtype) for name, dtype in INTERRUPTS.items())
    return frame.filter(pl.col("sample") >= wire.begin)


def _ticks(
    ticks: Ticks | None,
    stimulus: npt.NDArray[np.int64],
    answer: npt.NDArray[np.int64],
    woken: npt.NDArray[np.int64] | None,
) -> dict[str, pl.Series]:
    """Where each stimulus lies between two ticks, and whether a tick's handler may have delayed its answer,
    or the task's; nulls where that is not known. An answer that never came, -1, counts as the stimulus.
    """
    unknown = pl.Series([None] * len(stimulus))
    if ticks is None:
        return {"tick_phase_cycles": unknown, "tick": unknown, "task_tick": unknown}
    touched = unknown if woken is None else pl.Series(ticks.touch(stimulus, np.maximum(stimulus, woken)))
    return {
        "tick_phase_cycles": pl.Series(ticks.phase_cycles(stimulus)),
        "tick": pl.Series(ticks.touch(stimulus, np.maximum(stimulus, answer))),
        "task_tick": touched,
    }


def _latency_ns(
    samplerate_hz: int, stimulus: npt.NDArray[np.int64], answer: npt.NDArray[np.int64]
) -> pl.Series:
    latency = (answer - stimulus) * (NS_PER_S / samplerate_hz)
    return pl.select(pl.when(pl.Series(answer >= 0)).then(pl.Series(latency))).to_series()


def _operation_at(
    windows: Windows,
    seq: npt.NDArray[np.int64],
    sample: npt.NDArray[np.int64],
    in_operation: npt.NDArray[np.bool_],
) -> pl.Series:
    """The joined operation during whose OP pulse each sample falls, else null."""
    index = np.searchsorted(windows.start, sample, side="right") - 1
    inside = in_operation & (index >= 0)
    inside[inside] &= sample[inside] < windows.end[index[inside]]
    number = np.append(seq, 0)[index]
    return pl.select(pl.when(pl.Series(inside)).then(pl.Series(number, dtype=pl.Int64))).to_series()
