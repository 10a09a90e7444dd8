"""What a click shows, embedded in the report, which has no server to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series
from dashboards.page.explanations import explanations
from dashboards.page.interest import keys_by_interest
from dashboards.waveforms.windows import Window, window_of
from scenarios.operations import CALLS

# About seven bytes of JSON an edge: some 4 MB for the whole report, shared by its runs.
EDGES_IN_REPORT = 600_000
WINDOWS_PER_RUN = 1_500

_FACTS = (
    "kind", "size", "label", "depth", "trial", "probes", "dwt_cycles", "wire_critical_ns",
    "disagreement_cycles", "live", "bytes_in_use",
)  # fmt: skip


def embed(series: Sequence[Series]) -> dict[str, Any]:
    """By run id: name, colour, samplerate, windows by key, and the facts of their operations."""
    budget = EDGES_IN_REPORT // max(len(series), 1)
    return {one.run.id: _run(one, budget) for one in series}


def _run(one: Series, edges_budget: int) -> dict[str, Any]:
    windows = _windows(one, edges_budget)
    return {
        "name": one.name,
        "colour": one.style.colour,
        "tint": one.style.tint(0.12),
        "samplerate_hz": one.run.manifest.samplerate_hz,
        "verdict": one.run.manifest.verdict,
        "explained": explanations(one.run),
        "windows": {key: _packed(window) for key, window in windows.items()},
        "operations": _operations(one.run, [int(key) for key in windows if not key.startswith("@")]),
    }


def _windows(one: Series, edges_budget: int) -> dict[str, Window]:
    """The windows by key, the most telling first, as many as the budget has room for."""
    chosen: dict[str, Window] = {}
    for key in keys_by_interest(one)[:WINDOWS_PER_RUN]:
        window = window_of(one.run, key)
        if window is None:
            continue
        edges_budget -= len(window.sample)
        if edges_budget < 0:
            break
        chosen[key] = window
    return chosen


def _packed(window: Window) -> list[Any]:
    """[start, end, zero, distances from row to row, word of each row]; times in samples."""
    distance = np.diff(window.sample, prepend=window.start)
    return [window.start, window.end, window.zero, distance.tolist(), window.word.tolist()]


def _operations(run: LoadedRun, seqs: Sequence[int]) -> dict[str, dict[str, Any]]:
    """The facts of each chosen operation, and the worst interrupt that fell into it."""
    latency = run.answered.group_by("operation_seq").agg(pl.col("isr_latency_ns").max())
    chosen = run.operations.filter(pl.col("seq").is_in(list(seqs))).join(
        latency.rename({"operation_seq": "seq"}), on="seq", how="left", maintain_order="left"
    )
    rows = chosen.select("seq", *_FACTS, "isr_latency_ns").to_dicts()
    return {str(row.pop("seq")): _told(row) for row in rows}


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """What is known of an operation. A call has a name; its size is but the number of that."""
    told = {key: value for key, value in row.items() if value is not None}
    if told["kind"] == "K":
        number = told.pop("size")
        told["call"] = CALLS[number] if number < len(CALLS) else f"call {number}"
    return told
