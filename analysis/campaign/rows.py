"""A row of runs.parquet (docs/reference/campaign-folder.md)."""

from __future__ import annotations

from typing import Any

import polars as pl

from analysis.campaign.matrix import Point
from base import run_index as index
from base.run_folder.manifest import Manifest
from base.run_folder.quantities import KEYS

STATISTICS = ("n", "min", "mean", "median", "p99", "p99_9", "max")
_NOT_OF_A_CAMPAIGN = {"id", "time", "problem", "state"}

COLUMNS = pl.Schema(
    {
        "key": pl.String(),
        "state": pl.String(),
        "verified": pl.Boolean(),
        "placement": pl.Int64(),
        **{name: dtype for name, dtype in index.COLUMNS.items() if name not in _NOT_OF_A_CAMPAIGN},
        **{
            f"{key}_{name}": pl.Int64() if name == "n" else pl.Float64()
            for key in KEYS
            for name in STATISTICS
        },
    }
)
"""No column tells when, where or how often a run was made: equal runs have equal rows."""

DIFFERS = "differs"
"""The state of a direct run that is not what the real tools bring."""


def row_of(key: str, manifest: Manifest, verified: bool | None = None, placement: int = 0) -> dict[str, Any]:
    """The row of a run. `verified` is None of one by the real tools."""
    row = {name: value for name, value in index.finished(manifest).items() if name in COLUMNS}
    for quantity in KEYS:
        summary = manifest.statistics.get(quantity)
        for name in STATISTICS:
            value = getattr(summary, name, None)
            row[f"{quantity}_{name}"] = value if name == "n" or value is None else float(value)
    return {**row, "key": key, "state": "finished", "verified": verified, "placement": placement}


def failed_row(key: str, point: Point, why: str) -> dict[str, Any]:
    """The row of a run that could not be made, with the sentence why."""
    return {
        "key": key,
        "state": "failed",
        "verified": None,
        "placement": point.placement,
        "scenario": point.scenario,
        "allocator": point.allocator,
        "board_folder": point.board,
        "parameters": index.listed(point.parameters),
        "seed": None if point.seed is None else str(point.seed),
        "art": point.art == "on",
        "locking": point.locking,
        "knobs": index.listed(point.knobs),
        "heap_bytes": point.heap_bytes,
        "samplerate_hz": point.samplerate,
        "verdict": None,
        "reason": why[: index.MOST_REASON],
    }
