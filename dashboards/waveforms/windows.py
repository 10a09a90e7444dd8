"""Windows of a capture: what the channels did around an operation or a stimulus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from base.run_folder.edges import EdgeList
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


def window_of(run: LoadedRun, key: str) -> Window | None:
    """The window that a selection key names. None where the capture or its sample is missing."""
    return windows_of(run, [key]).get(key)


def windows_of(run: LoadedRun, keys: Sequence[str]) -> dict[str, Window]:
    """The windows that `keys` name, in their order, without those that are missing.

    All at once, because a search through the tables for each would take most of a report's time.
    """
    edges = run.edges
    if edges is None:
        return {}
    places = _operations(run, keys) | _stimuli(run, keys, edges.samplerate_hz)
    return {key: _cut(edges, *places[key]) for key in keys if key in places}


def _operations(run: LoadedRun, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
    """By key the first sample and the width of each operation."""
    seqs = [int(key) for key in keys if not key.startswith("@")]
    chosen = run.operations.filter(pl.col("seq").is_in(seqs)).drop_nulls("start_sample")
    rows = chosen.select("seq", "start_sample", pl.col("wire_operation_samples").fill_null(0))
    return {str(seq): (start, width) for seq, start, width in reversed(rows.rows())}


def _stimuli(run: LoadedRun, keys: Sequence[str], samplerate_hz: int) -> dict[str, tuple[int, int]]:
    """By key the sample of each stimulus outside operations, and how many the answer took."""
    samples = [int(key[1:]) for key in keys if key.startswith("@")]
    chosen = run.interrupts.filter(pl.col("sample").is_in(samples))
    rows = chosen.group_by("sample").agg(pl.col("isr_latency_ns").max().fill_null(0.0)).rows()
    return {f"@{sample}": (sample, round(latency_ns * samplerate_hz / 1e9)) for sample, latency_ns in rows}


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
