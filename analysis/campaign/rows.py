"""A row of runs.parquet (docs/reference/campaign-folder.md)."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import polars as pl

from analysis.campaign.matrix import Point
from base.metrology.quantiles import summarise
from base.run_folder.manifest import Manifest
from base.run_folder.quantities import KEYS, QUANTITIES
from base.run_index import row as index

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

OLD_NAMES = {
    f"{key}_{new}": f"{word}_{old}"
    for key, word in zip(index.HEADLINES, ("allocate", "free", "interrupt", "task"), strict=True)
    for new, old in (("budget", "budget_ns"), ("key", "key"))
}
"""What columns were called in a campaign made before. It had n and maximum under both names."""

DIFFERS = "differs"
"""The state of a direct run that is not what the real tools bring."""

_MOST_REASON = 600


def row_of(key: str, manifest: Manifest, verified: bool | None = None, placement: int = 0) -> dict[str, Any]:
    """The row of a run. `verified` is None of one by the real tools."""
    row = {name: value for name, value in index.finished(manifest).items() if name in COLUMNS}
    for quantity in KEYS:
        summary = manifest.statistics.get(quantity)
        for name in STATISTICS:
            value = getattr(summary, name, None)
            row[f"{quantity}_{name}"] = value if name == "n" or value is None else float(value)
    return {**row, "key": key, "state": "finished", "verified": verified, "placement": placement}


_EXACT = ("n", "min", "median", "p99", "p99_9", "max")
"""Of STATISTICS: counts, and values that occurred."""


def tell_the_same(row: Mapping[str, Any], tables: Mapping[str, bytes]) -> bool:
    """True if the row has the figures of its run's tables, given as Parquet.

    Of quantities that the row does not tell nothing is compared.
    """
    told = [quantity for quantity in QUANTITIES if row[f"{quantity.key}_n"] is not None]
    if not told:
        return True
    operations, interrupts = (pl.read_parquet(BytesIO(tables[what])) for what in ("operations", "interrupts"))
    for quantity in told:
        found = summarise(quantity.samples(operations, interrupts)[quantity.column].to_numpy())
        if any(row[f"{quantity.key}_{name}"] != getattr(found, name) for name in _EXACT):
            return False
    return True


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
        "parameters": _listed(point.parameters),
        "seed": None if point.seed is None else str(point.seed),
        "art": point.art == "on",
        "locking": point.locking,
        "knobs": _listed(point.knobs),
        "heap_bytes": point.heap_bytes,
        "samplerate_hz": point.samplerate,
        "verdict": None,
        "reason": why[:_MOST_REASON],
    }


def _listed(values: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items()))
