"""Of many runs those that count: the latest of each scenario, allocator and options.

Which runs are alike, and which of them is the latest, says docs/reference/alike.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from base.run_folder import alike
from base.run_folder import folder as names
from base.run_folder.manifest import read_manifest


def latest(runs: pl.DataFrame) -> pl.DataFrame:
    """The latest finished run of each kind, whatever its verdict, in the order of `runs`.

    `runs` is the table of index(). A run that is damaged, unfinished or from the wire alone is left
    out.
    """
    finished = runs.filter(pl.col("state") == "finished")
    chosen = alike.latest(
        finished.select("id", "options_sha256").iter_rows(),
        options=lambda row: row[1],
        name=lambda row: Path(row[0]).name,
    )
    return finished.filter(pl.col("id").is_in([identity for identity, _ in chosen]))


def latest_folders(folders: Sequence[Path]) -> list[Path]:
    """Of the run folders `folders` the latest of each kind, in the order of beginning. Raises
    RunError.
    """
    return alike.latest(
        folders,
        options=lambda folder: alike.Options.of(read_manifest(folder / names.MANIFEST)),
        name=lambda folder: folder.resolve().name,
    )


def left_out(older: int) -> str:
    """The sentence on the `older` runs for which a later one stands; empty where there is none."""
    if not older:
        return ""
    noun, verb = ("run", "is") if older == 1 else ("runs", "are")
    return f"{older:,} older {noun} of the same scenario, allocator and options {verb} left out."
