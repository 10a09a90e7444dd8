"""The index: a row for each run folder below a folder, made again only where a run.json changed.

Parsing a thousand run.json takes seconds. So the table is kept as a Parquet file, which may be
deleted at any time. A folder's row is made again where its run.json has another size or time, and
another content.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from ..files.documents import JSON_BYTES_MAX
from ..files.errors import RunError
from ..files.whole import WriteError, read_bytes, write_whole
from ..run_folder import alike
from ..run_folder import folder as names
from ..run_folder.manifest import read_manifest
from ..run_folder.panics import without_panic
from . import row as rows
from .row import COLUMNS, unfinished_row

VERSION = 5
"""Of the kept table. One of another version is made again."""

DEEPEST = 4
"""How many folders below the one that is indexed a run may lie: a campaign's are in its own."""

_MARKS = (names.MANIFEST, names.IMAGE, names.OBSERVED)
_FILE: dict[str, type[pl.DataType]] = {"mtime_ns": pl.Int64, "bytes": pl.Int64, "sha256": pl.String}
_KEPT = pl.Schema([*COLUMNS.items(), *_FILE.items()])
_FACTS = ("id", "mtime_ns", "bytes", "sha256")


@dataclass(frozen=True)
class _Found:
    """A run folder, and how its run.json looks from outside: null where it has none."""

    folder: Path
    id: str
    mtime_ns: int | None
    bytes: int | None


def index(folder: Path, kept_in: Path | None = None) -> pl.DataFrame:
    """The runs below `folder`, the latest first, with the columns of COLUMNS.

    `id` is the run folder's path below `folder`. What was found is kept in the folder `kept_in`, if
    given and if it can be written; without it every run.json is read. Raises RunError where
    `folder` is none.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: is no folder; name the one that holds the runs.")
    folder = folder.resolve()
    kept_at = kept_in / f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}.parquet" if kept_in else None
    kept = _read(kept_at)
    table = _refreshed(list(_find(folder)), kept)
    if kept_at is not None and not table.equals(kept):
        _write(kept_at, table)
    return table.select(COLUMNS.names())


def _refreshed(run_folders: list[_Found], table: pl.DataFrame) -> pl.DataFrame:
    """The rows of `run_folders`: the kept ones that are still true, and new ones for the others."""
    facts = {row[0]: row[1:] for row in table.select(_FACTS).iter_rows()}
    same: dict[str, _Found] = {}
    made: list[dict[str, Any]] = []
    for run_folder in run_folders:
        if run_folder.mtime_ns is None or run_folder.bytes is None:
            made.append(unfinished_row(run_folder.folder, run_folder.id))
            continue
        fact = facts.get(run_folder.id)
        if fact is not None and fact[:2] == (run_folder.mtime_ns, run_folder.bytes):
            same[run_folder.id] = run_folder
            continue
        digest = _digest(run_folder.folder / names.MANIFEST)
        if fact is not None and digest is not None and digest == fact[2]:
            same[run_folder.id] = run_folder
            continue
        row = rows.row_of(run_folder.folder, run_folder.id)
        made.append(row | {"mtime_ns": run_folder.mtime_ns, "bytes": run_folder.bytes, "sha256": digest})
    return (
        pl.concat([_still_true(table, same), pl.DataFrame(made, schema=_KEPT, orient="row")])
        .sort("time", "id", descending=True, nulls_last=True)
        .rechunk()
    )


def _still_true(table: pl.DataFrame, same: dict[str, _Found]) -> pl.DataFrame:
    """The rows of `same`, with the times that their files have now."""
    now = pl.DataFrame(
        [(run_folder.id, run_folder.mtime_ns) for run_folder in same.values()],
        schema={"id": pl.String, "mtime_ns": pl.Int64},
        orient="row",
    )
    return table.drop("mtime_ns").join(now, on="id", how="inner").select(_KEPT.names())


def _find(folder: Path) -> Iterator[_Found]:
    """The run folders below `folder`, however deep up to DEEPEST; none within another."""
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            entries = [entry for entry in os.scandir(place) if not entry.name.startswith(".")]
        except OSError:  # it went, or may not be read
            continue
        if depth and any(entry.name in _MARKS for entry in entries):
            yield _seen(place, place.relative_to(folder).as_posix())
        elif depth < DEEPEST:
            waiting += [(place / entry.name, depth + 1) for entry in entries if _is_folder(entry)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """True if it is a folder of its own: a link could lead round in a circle.

    A name that is no text has no place in a table.
    """
    try:
        entry.name.encode()
        return entry.is_dir(follow_symlinks=False)
    except (OSError, UnicodeEncodeError):
        return False


def _seen(folder: Path, identity: str) -> _Found:
    try:
        status = (folder / names.MANIFEST).stat()
    except OSError:
        return _Found(folder, identity, None, None)
    return _Found(folder, identity, status.st_mtime_ns, status.st_size)


def _digest(path: Path) -> str | None:
    """SHA-256 of the file; None where it cannot be read, which its row then says."""
    try:
        return hashlib.sha256(read_bytes(path, JSON_BYTES_MAX)).hexdigest()
    except OSError:
        return None


def _read(path: Path | None) -> pl.DataFrame:
    """The kept table; an empty one where there is none that can be used."""
    empty = pl.DataFrame(schema=_KEPT)
    if path is None or not path.is_file():
        return empty
    try:
        with without_panic():
            if pl.read_parquet_metadata(path).get("version") != str(VERSION):
                return empty
            table = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (PolarsError, OSError):
        return empty
    return table if table.schema == _KEPT else empty


def _write(path: Path, table: pl.DataFrame) -> None:
    """Keeps the table. Where that fails the next start takes longer, and nothing else."""
    try:
        write_whole(
            path, lambda temporary: table.write_parquet(temporary, metadata={"version": str(VERSION)})
        )
    except WriteError:
        return


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
