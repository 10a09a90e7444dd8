"""The Parquet files of a run folder (docs/SPEC.md, section 5): their columns, and reading them guardedly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.exceptions import PanicException, PolarsError

from dashboards.manifest import RunError

# A whole day of stimuli every 60 us is 1.4 billion; a table to be drawn is far smaller. The limit
# keeps a forged row count from filling the memory before its first column has been looked at.
ROWS_MAX = 50_000_000

OPERATIONS: Mapping[str, pl.DataType] = {
    "seq": pl.UInt32(),
    "kind": pl.String(),
    "size": pl.UInt32(),
    "measured": pl.Boolean(),
    "probes": pl.UInt32(),
    "dwt_cycles": pl.UInt32(),
    "dwt_operation_cycles": pl.UInt32(),
    "wire_critical_ns": pl.Float64(),
    "wire_operation_ns": pl.Float64(),
    "wire_critical_samples": pl.Int64(),
    "wire_operation_samples": pl.Int64(),
    "start_sample": pl.Int64(),
    "disagreement_cycles": pl.Float64(),
    "control_hits": pl.UInt32(),
    "isr_hits": pl.UInt32(),
    "live": pl.UInt32(),
    "bytes_in_use": pl.UInt32(),
    "label": pl.String(),
    "trial": pl.UInt32(),
    "depth": pl.UInt32(),
}

INTERRUPTS: Mapping[str, pl.DataType] = {
    "control": pl.Boolean(),
    "sample": pl.Int64(),
    "time_ns": pl.Float64(),
    "isr_latency_ns": pl.Float64(),
    "task_latency_ns": pl.Float64(),
    "operation_seq": pl.UInt32(),
    "hit": pl.String(),
    "missed": pl.Boolean(),
}

# What runs tell of since the tick is known; null in a table without.
INTERRUPTS_ADDED: Mapping[str, pl.DataType] = {
    "tick_phase_cycles": pl.Float64(),
    "tick": pl.Boolean(),
    "task_tick": pl.Boolean(),
}

EDGES: Mapping[str, pl.DataType] = {"sample": pl.Int64(), "word": pl.UInt8()}

OPERATION_KINDS = ("A", "O", "F", "N", "E", "K")
HITS = ("critical", "operation", "none")


@dataclass(frozen=True)
class Edges:
    """The capture: `word[i]` holds from `sample[i]` until the next row. Both have shape (edges,)."""

    sample: npt.NDArray[np.int64]
    word: npt.NDArray[np.uint8]
    samplerate_hz: int
    total_samples: int
    channels: tuple[str, ...]


def read_operations(path: Path) -> pl.DataFrame:
    """One row per operation, in the order of `seq`. Raises RunError."""
    table = _read(path, OPERATIONS)
    _require(path, table["seq"].is_sorted() and table["seq"].is_unique().all(), "seq does not count upwards")
    _require(path, table["kind"].is_in(OPERATION_KINDS).all(), f"kind has values outside {OPERATION_KINDS}")
    return table


def read_interrupts(path: Path) -> pl.DataFrame:
    """One row per stimulus of either class. Raises RunError."""
    table = _read(path, INTERRUPTS, INTERRUPTS_ADDED)
    _require(path, table["hit"].is_in(HITS).all(), f"hit has values outside {HITS}")
    return table


def read_edges(path: Path) -> Edges:
    """The exact capture with its metadata. Raises RunError."""
    table = _read(path, EDGES)
    sample = table["sample"].to_numpy()
    _require(path, len(sample) > 0 and sample[0] == 0, "the first row is not sample 0")
    _require(path, bool(np.all(np.diff(sample) > 0)), "sample does not count upwards")
    metadata = _metadata(path)
    samplerate_hz, total_samples = metadata.get("samplerate_hz"), metadata.get("total_samples")
    channels = metadata.get("channels")
    if not isinstance(samplerate_hz, int) or not isinstance(total_samples, int) or samplerate_hz < 1:
        raise _damaged(path, "samplerate_hz or total_samples in its metadata is not a number")
    if (
        not isinstance(channels, list)
        or len(channels) > 8
        or not all(isinstance(name, str) for name in channels)
    ):
        raise _damaged(path, "channels in its metadata is not a list of at most eight names")
    return Edges(sample, table["word"].to_numpy(), samplerate_hz, total_samples, tuple(channels))


def _read(
    path: Path, needed: Mapping[str, pl.DataType], added: Mapping[str, pl.DataType] | None = None
) -> pl.DataFrame:
    """The `needed` columns and the `added` ones; where the file lacks one of those, nulls."""
    columns = {**needed, **(added or {})}
    try:
        frame = pl.scan_parquet(path, glob=False)
        absent = [name for name in added or () if name not in frame.collect_schema()]
        frame = frame.with_columns(pl.lit(None, dtype=columns[name]).alias(name) for name in absent)
        schema = frame.collect_schema()
        for name, dtype in columns.items():
            if schema.get(name) != dtype:
                raise _damaged(path, f"column {name} is {schema.get(name, 'missing')}, not {dtype}")
        rows = frame.select(pl.len()).collect().item()
        _require(path, rows <= ROWS_MAX, f"{rows} rows are more than the {ROWS_MAX} that can be drawn")
        return frame.select(list(columns)).collect()
    except FileNotFoundError:
        raise RunError(f"{path}: is missing; restore it or run the scenario again.") from None
    except (PolarsError, PanicException, OSError) as error:
        raise _damaged(path, f"it cannot be read as Parquet ({_first_line(error)})") from None


def _metadata(path: Path) -> dict[str, object]:
    try:
        text = pl.read_parquet_metadata(path).get("tailscope", "")
        value = json.loads(text)
    except (PolarsError, PanicException, OSError, ValueError, RecursionError):
        raise _damaged(path, "its metadata key tailscope is missing or no JSON") from None
    if not isinstance(value, dict) or value.get("schema") != 1:
        raise _damaged(path, "its metadata is not of schema 1")
    return value


def _require(path: Path, holds: bool, complaint: str) -> None:
    if not holds:
        raise _damaged(path, complaint)


def _damaged(path: Path, complaint: str) -> RunError:
    return RunError(f"{path}: {complaint}; restore the file or decode the run again.")


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
