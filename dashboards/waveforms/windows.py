"""Windows of a capture: what the channels did around an operation or a stimulus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from capture.run_folder.edges import EdgeList
from dashboards.loaded.runs import LoadedRun

# Room around an operation: a share of its width, but at least this, so that the answers of the
# handler and of the task it wakes are seen.
MARGIN_SHARE = 0.2
MARGIN_S = 4e-6
# An allocator that masks many times may toggle thousands of times in one operation. The window is
# cut then.
EDGES_MAX = 2_000


@dataclass(frozen=True)
class Window:
    """Samples `start` … `end` (exclusive) of a capture; time zero is sample `zero`.

    `sample` and `word` have shape (edges,); the first row is `start` with the levels there.
    """

    start: int
    end: int
    zero: int
    sample: npt.NDArray[np.int64]
    word: npt.NDArray[np.uint8]


def operation_window(run: LoadedRun, seq: int) -> Window | None:
    """The window around operation `seq`. None where the capture or its pulse is missing."""
    row = run.operations.filter(pl.col("seq") == seq)
    edges = run.edges
    if edges is None or row.is_empty() or row["start_sample"][0] is None:
        return None
    start = int(row["start_sample"][0])
    width = int(row["wire_operation_samples"][0] or 0)
    return _cut(edges, start, width)


def stimulus_window(run: LoadedRun, sample: int) -> Window | None:
    """The window around the stimulus at `sample` and its answer. None without a capture."""
    edges = run.edges
    row = run.interrupts.filter(pl.col("sample") == sample)
    if edges is None or row.is_empty():
        return None
    latency_ns = row["isr_latency_ns"].max() or 0.0
    return _cut(edges, sample, round(float(latency_ns) * edges.samplerate_hz / 1e9))  # type: ignore[arg-type]


def window_of(run: LoadedRun, key: str) -> Window | None:
    """The window that a selection key names."""
    return stimulus_window(run, int(key[1:])) if key.startswith("@") else operation_window(run, int(key))


def span(edges: EdgeList, start: int, end: int) -> Window:
    """All edges of samples `start` … `end` (exclusive) of the capture; zero is `start`."""
    first = int(np.searchsorted(edges.sample, start, side="right")) - 1
    last = int(np.searchsorted(edges.sample, end, side="left"))
    sample = edges.sample[first:last].copy()
    sample[0] = start
    return Window(start, end, start, sample, edges.word[first:last])


def _cut(edges: EdgeList, zero: int, width: int) -> Window:
    margin = max(round(width * MARGIN_SHARE), round(edges.samplerate_hz * MARGIN_S))
    start = min(max(zero - margin, 0), edges.total_samples)
    end = max(start, min(zero + width + margin, edges.total_samples))
    first = int(np.searchsorted(edges.sample, start, side="right")) - 1
    last = min(int(np.searchsorted(edges.sample, end, side="left")), first + EDGES_MAX)
    if last < len(edges.sample) and edges.sample[last] < end:
        end = int(edges.sample[last])
    sample = edges.sample[first:last].copy()
    sample[0] = start
    return Window(start, end, zero, sample, edges.word[first:last])
