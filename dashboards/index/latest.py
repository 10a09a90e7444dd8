"""Of many runs those that count: the latest of each scenario, allocator and options."""

from __future__ import annotations

import polars as pl

IDENTITY = (
    *("scenario", "parameters", "seed", "stimulus"),
    *("allocator", "outside_sha256", "knobs", "locking", "heap_bytes", "art"),
    *("board", "analyzer", "samplerate_hz", "records"),
)
"""What was asked for. Two runs that are equal in these are repetitions of each other."""


def latest(runs: pl.DataFrame) -> pl.DataFrame:
    """The latest finished run of each IDENTITY, whatever its verdict; the latest first.

    `runs` is the table of index(). A run that is damaged, unfinished or from the wire alone is left
    out.
    """
    finished = runs.filter(pl.col("state") == "finished").sort("time", "id", descending=True, nulls_last=True)
    return finished.unique(IDENTITY, keep="first", maintain_order=True)


def left_out(runs: pl.DataFrame) -> str:
    """The sentence on what latest() leaves out of `runs`; empty where it is nothing."""
    finished = runs.filter(pl.col("state") == "finished")
    older = len(finished) - len(latest(runs))
    if not older:
        return ""
    noun, verb = ("run", "is") if older == 1 else ("runs", "are")
    return (
        f"{older:,} older {noun} of the same scenario, allocator and options {verb} left out: "
        f"shown are the latest {len(finished) - older:,} of {len(finished):,}."
    )
