"""Windows of the capture: what the eight channels did around an operation or a stimulus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from capture.run_folder.edges import EdgeList
from capture.run_folder.quantities import QUANTITIES
from dashboards.quantities import worst_key
from dashboards.runs import LoadedRun
from dashboards.selection import interrupt_keys, operation_keys

# Room around an operation: a share of its width, and at least this, in which the handler and the
# task it wakes are seen to answer.
MARGIN_SHARE = 0.2
MARGIN_S = 4e-6
# An allocator that masks many times may toggle thousands of times in one operation: cut the window then.
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


def worst_operation(run: LoadedRun) -> int | None:
    """`seq` of the measured allocation with the longest critical section, by the wire or else by DWT."""
    table = run.measured_allocations.sort(
        "wire_critical_samples", "dwt_cycles", descending=True, nulls_last=True, maintain_order=True
    )
    return None if table.is_empty() else int(table["seq"][0])


def operation_window(run: LoadedRun, seq: int) -> Window | None:
    """The window around one operation. None where the capture or the operation's pulse is missing."""
    row = run.operations.filter(pl.col("seq") == seq)
    edges = run.edges
    if edges is None or row.is_empty() or row["start_sample"][0] is None:
        return None
    start = int(row["start_sample"][0])
    width = int(row["wire_operation_samples"][0] or 0)
    return _cut(edges, start, width)


def stimulus_window(run: LoadedRun, sample: int) -> Window | None:
    """The window around one stimulus and its answer. None where the capture is missing."""
    edges = run.edges
    row = run.interrupts.filter(pl.col("sample") == sample)
    if edges is None or row.is_empty():
        return None
    latency_ns = row["isr_latency_ns"].max() or 0.0
    return _cut(edges, sample, round(float(latency_ns) * edges.samplerate_hz / 1e9))  # type: ignore[arg-type]


def window_of(run: LoadedRun, key: str) -> Window | None:
    """The window that a selection key names."""
    return stimulus_window(run, int(key[1:])) if key.startswith("@") else operation_window(run, int(key))


def keys_by_interest(run: LoadedRun) -> list[str]:
    """Every key a figure may ask for, the most telling first.

    First the worst sample of each quantity and the worst interrupts of either class, then the worst of
    each depth, then the other measured allocations and the other interrupts, each from the longest down.
    """
    allocations = run.measured_allocations.sort(
        "wire_critical_samples", descending=True, nulls_last=True, maintain_order=True
    )
    per_depth = allocations.drop_nulls("depth").unique("depth", keep="first", maintain_order=True)
    answered = _longest_first(run.answered)
    control = _longest_first(run.answered_control)
    worst = (worst_key(run, quantity) for quantity in QUANTITIES)
    ranked = [
        *(key for key in worst if key is not None),
        *_keys(answered[:50]),
        *_keys(control[:10]),
        *operation_keys(per_depth["seq"]),
        *operation_keys(allocations["seq"]),
        *_keys(answered.unique("isr_latency_ns", keep="first", maintain_order=True)),
        *_keys(control.unique("isr_latency_ns", keep="first", maintain_order=True)),
    ]
    return list(dict.fromkeys(ranked))


def _longest_first(interrupts: pl.DataFrame) -> pl.DataFrame:
    return interrupts.sort("isr_latency_ns", descending=True, maintain_order=True)


def _keys(interrupts: pl.DataFrame) -> list[str]:
    return interrupt_keys(interrupts["sample"], interrupts["operation_seq"])


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
