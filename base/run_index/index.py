"""The index: a row for each run folder below a folder, made again only where a run.json changed.

Parsing a thousand run.json takes seconds. So the table is kept as a Parquet file, which may be
deleted at any time. A folder's row is made again where its run.json has another size or time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from polars.exceptions import PolarsError

from ..files.errors import RunError
from ..files.whole import WriteError, write_whole
from ..run_folder import alike
from ..run_folder import folder as names
from ..run_folder.manifest import read_manifest
from ..run_folder.panics import without_panic
from . import row as rows
from .row import COLUMNS, unfinished_row

VERSION = 7
"""Of the kept table. One of another version is made again."""

DEEPEST = 4
"""How many folders below the one that is indexed a run may lie: a campaign's are in its own."""

_MARKS = (names.MANIFEST, names.IMAGE, names.OBSERVED)
_KEPT = pl.Schema([*COLUMNS.items(), ("mtime_ns", pl.Int64()), ("bytes", pl.Int64())])


class _Listed(NamedTuple):
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
    before = _read(kept_at)
    table = _refreshed(list(_listed(folder)), before)
    if kept_at is not None and not table.equals(before):
        _write(kept_at, table)
    return table.select(COLUMNS.names())


def _refreshed(run_folders: list[_Listed], table: pl.DataFrame) -> pl.DataFrame:
    """The rows of `run_folders`: the kept ones that are still true, and new ones for the others."""
    facts = set(table.select("id", "mtime_ns", "bytes").iter_rows())
    new = [run for run in run_folders if run.mtime_ns is None or run[1:] not in facts]
    same = {run.id for run in run_folders} - {run.id for run in new}
    made = pl.DataFrame([_row(run) for run in new], schema=_KEPT, orient="row")
    unchanged = table.filter(pl.col("id").is_in(list(same)))
    return pl.concat([unchanged, made]).sort("time", "id", descending=True, nulls_last=True).rechunk()


def _row(run: _Listed) -> dict[str, Any]:
    if run.mtime_ns is None:
        return unfinished_row(run.folder, run.id)
    return rows.row_of(run.folder, run.id) | {"mtime_ns": run.mtime_ns, "bytes": run.bytes}


def _listed(folder: Path) -> Iterator[_Listed]:
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


def _seen(folder: Path, identity: str) -> _Listed:
    try:
        status = (folder / names.MANIFEST).stat()
    except OSError:
        return _Listed(folder, identity, None, None)
    return _Listed(folder, identity, status.st_mtime_ns, status.st_size)


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
