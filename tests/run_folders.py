"""What tests read of a run folder, and what they change in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from base.run_folder.folder import digests


def manifest(folder: Path) -> dict[str, Any]:
    """run.json as it is."""
    content: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return content


def edit_manifest(folder: Path, **changes: object) -> None:
    """Replaces what stands at the top of run.json under these names."""
    (folder / "run.json").write_text(json.dumps(manifest(folder) | changes), encoding="utf-8")


def seal(folder: Path) -> None:
    """Has run.json tell the digests of the files that are there, as whoever alters them may."""
    edit_manifest(folder, files=digests(folder))


def operations(folder: Path) -> pl.DataFrame:
    """operations.parquet as it is."""
    return pl.read_parquet(folder / "operations.parquet")
