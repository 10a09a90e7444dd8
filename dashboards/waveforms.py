"""From a point of a figure to the capture around it: selection keys, and windows of the capture.

The key of an operation is its `seq` ("1874"). That of a stimulus outside any operation is its
sample ("@402183"). A trace has its run in `meta`, and the key of each point in `customdata`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from base.run_folder.edges import EdgeList
from base.run_folder.quantities import Quantity
from dashboards.loaded.runs import LoadedRun, samples


def operation_keys(seqs: pl.Series) -> pl.Series:
    """The key of each operation."""
    return seqs.cast(pl.String)


def interrupt_keys(stimuli: pl.DataFrame) -> pl.Series:
    """The key of the operation (`operation_seq`) that each stimulus fell into, else of the stimulus
    itself (`sample`).
    """
    own = pl.concat_str(pl.lit("@"), "sample")
    return stimuli.select(pl.coalesce(pl.col("operation_seq").cast(pl.String), own)).to_series()


def worst_key(run: LoadedRun, quantity: Quantity) -> str | None:
    """The key of the first sample with the greatest value, as run.json or else the table tells it;
    None without samples.
    """
    maximum = run.manifest.maxima.get(quantity.key)
    if run.summary(quantity).max is None:
        return None
    if maximum is not None and maximum.selection_key is not None:
        return maximum.selection_key
    rows = samples(run, quantity)
    at = rows[quantity.column].arg_max()
    if at is None:
        return None
    keys = operation_keys(rows[at]["seq"]) if quantity.table == "operations" else interrupt_keys(rows[at])
    return str(keys[0])


# Room around an operation: a share of its width, but at least this, so that the answers of the
# handler and of the task it wakes are seen.
MARGIN_SHARE = 0.2
MARGIN_S = 4e-6
# An allocator that masks many times may toggle thousands of times in one operation. The window is
# cut then.
EDGES_MAX = 2_000


class Window(NamedTuple):
    """Samples `start` … `end` (exclusive) of a capture; time zero is sample `zero`.

    `sample` and `word` have shape (edges,); the first row is `start` with the levels there.
    """

    start: int
    end: int
    zero: int
    sample: npt.NDArray[np.int64]
    word: npt.NDArray[np.uint8]


def chosen(run: LoadedRun, keys: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The operations, and the stimuli outside of them, that `keys` name. Raises RunError."""
    seqs = [int(key) for key in keys if not key.startswith("@")]
    samples = [int(key[1:]) for key in keys if key.startswith("@")]
    stimuli = run.interrupts.filter(pl.col("sample").is_in(samples))
    return run.operations.filter(pl.col("seq").is_in(seqs)), stimuli


def windows_of(run: LoadedRun, keys: Sequence[str]) -> dict[str, Window]:
    """The windows that `keys` name, in their order, without those that are missing.

    All at once, because a search through the tables for each would take most of a report's time.
    """
    edges = run.edges
    if edges is None or not edges.total_samples:
        return {}
    # By key the first sample and the width, of an operation or of a stimulus and its wait.
    operations, stimuli = chosen(run, keys)
    rows = (
        operations.drop_nulls("start_sample")
        .select("seq", "start_sample", pl.col("wire_operation_samples").fill_null(0))
        .rows()
    )
    places = {str(seq): (start, width) for seq, start, width in reversed(rows)}
    waits = stimuli.group_by("sample").agg(pl.col("isr_latency_ns").max().fill_null(0.0)).rows()
    for sample, wait_ns in waits:
        places[f"@{sample}"] = sample, round(wait_ns * edges.samplerate_hz / 1e9)
    return {key: _cut(edges, *places[key]) for key in keys if key in places}


def _cut(edges: EdgeList, zero: int, width: int) -> Window:
    margin = max(round(width * MARGIN_SHARE), round(edges.samplerate_hz * MARGIN_S))
    start = min(max(zero - margin, 0), edges.total_samples - 1)
    end = max(start + 1, min(zero + width + margin, edges.total_samples))
    first = int(np.searchsorted(edges.sample, start, side="right")) - 1
    last = min(int(np.searchsorted(edges.sample, end, side="left")), first + EDGES_MAX)
    if last < len(edges.sample) and edges.sample[last] < end:
        end = int(edges.sample[last])
    sample = edges.sample[first:last].copy()
    sample[0] = start
    return Window(start, end, zero, sample, edges.word[first:last])
