"""The index: all run folders below a folder as one table (docs/reference/run-index.md).

Parsing a thousand run.json takes some seconds. So a process parses one again only where it has
another size or time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from .files.errors import RunError
from .run_folder import alike
from .run_folder import folder as names
from .run_folder.manifest import Manifest, read_manifest
from .run_folder.observed import read_observed_manifest
from .run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, SECTION, TASK
from .run_folder.tables import schema_of

DEEPEST = 4
"""How many folders below the one that is indexed a run may lie: a campaign's are in its own."""

HEADLINES = (SECTION.key, CRITICAL.key, FREE_CRITICAL.key, LATENCY.key, TASK.key)
"""The statistics of run.json whose maxima the index has: their columns begin with these names."""

COLUMNS = schema_of("index")
"""What a reader sees of each run."""

MOST_REASON = 600
"""Characters of a sentence in a row."""
_OF_ALL = ("board", "analyzer", "samplerate_hz", "verdict")
"""Of what every run.json has."""
_STAMP = re.compile(r"\d{8}T\d{6}Z")
_MARKS = {names.MANIFEST, names.IMAGE, names.OBSERVED}


def index(folder: Path) -> pl.DataFrame:
    """The runs below `folder`, the latest first, with the columns of COLUMNS.

    `id` is the run folder's path below `folder`. Raises RunError where `folder` is none.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: is no folder; name the one that holds the runs.")
    rows = list(_rows(folder.resolve()))
    return pl.DataFrame(rows, COLUMNS, orient="row").sort("time", "id", descending=True, nulls_last=True)


def _rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Of the run folders below `folder`, however deep up to DEEPEST; none within another."""
    for parent, folders, files in os.walk(folder):
        place = Path(parent)
        identity = place.relative_to(folder)
        if place != folder and not _MARKS.isdisjoint((*folders, *files)):
            folders.clear()
            status = None
            with suppress(OSError):
                status = (place / names.MANIFEST).stat()
            yield _row(place, identity.as_posix(), status and (status.st_mtime_ns, status.st_size))
        deep = len(identity.parts) == DEEPEST
        # A name that is no text has no place in a table.
        folders[:] = [
            name
            for name in folders
            if not deep and name[0] != "." and name.encode(errors="ignore").decode() == name
        ]


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
        options=lambda folder: alike.options_of(read_manifest(folder / names.MANIFEST)),
        name=lambda folder: folder.resolve().name,
    )


def left_out(older: int) -> str:
    """The sentence on the `older` runs for which a later one stands; empty where there is none."""
    if not older:
        return ""
    return f"Of the same scenario, allocator and options only the latest run stands: {older:,} left out."


def configuration(manifest: Manifest) -> str:
    """What every list calls the configuration of a run: the allocator and what is not as usual; and
    of a capture of another tool, its file.
    """
    if manifest.imported is None:
        return manifest.configuration
    return f"{manifest.configuration}, imported from {manifest.imported.file}"


@lru_cache(maxsize=1 << 13)
def _row(folder: Path, identity: str, _status: tuple[int, int] | None) -> Mapping[str, Any]:
    """The row of a run folder, whose run.json has that time and size. A damaged file, and a folder
    without a run.json, are rows too, with the sentence that says what is wrong.
    """
    path = folder / names.MANIFEST
    row: dict[str, Any] = {"id": identity, "time": _time(folder, folder if _status is None else path)}
    if _status is None:
        row |= {"state": "unfinished", "problem": names.no_manifest(Path(identity))}
        name = names.RunName.of(folder)
        return row | name._asdict() if name else row
    try:
        names.check_members(folder)
        if not names.is_observed(folder):
            return row | finished(read_manifest(path))
        observed = read_observed_manifest(path)
    except RunError as error:
        return row | {"state": "damaged", "problem": str(error)[:MOST_REASON]}
    return row | {
        "state": "observed",
        "problem": "A run from the wire alone (./lab observe): it has no operations.",
        "configuration": observed.program.elf,
        "firmware_sha256": observed.program.elf_sha256,
        **observed.model_dump(include={*_OF_ALL}),
        "reason": _reason(observed.reasons),
    }


def finished(manifest: Manifest) -> dict[str, Any]:
    """The columns of an index row, from the run.json of a run with operations."""
    stimulus, firmware, memory = manifest.stimulus, manifest.firmware, manifest.memory
    row: dict[str, Any] = {
        "state": "finished",
        **manifest.model_dump(include={"scenario", "allocator", "records", "locking", *_OF_ALL}),
        "configuration": configuration(manifest),
        "board_folder": manifest.board_folder,
        "parameters": listed(manifest.parameters),
        "stimulus": f"{stimulus.mode}:{stimulus.period_ticks},{stimulus.control_period_ticks}",
        "seed": None if manifest.seed is None else str(manifest.seed),
        "art": manifest.accelerated,
        "knobs": listed(manifest.knobs),
        "heap_bytes": firmware.heap_bytes,
        "outside_sha256": manifest.outside.sha256 if manifest.outside else None,
        "firmware_sha256": firmware.elf_sha256,
        "options_sha256": alike.options_of(manifest),
        "operations": manifest.counts.operations,
        "reason": _reason(manifest.reasons),
    }
    for key in HEADLINES:
        summary, budget = manifest.statistics[key], manifest.error_budget.get(key)
        maximum = manifest.maxima.get(key)
        row |= {
            f"{key}_n": summary.n,
            f"{key}_max": summary.max,
            f"{key}_budget": budget.total.ns if budget else None,
            f"{key}_key": maximum.selection_key if maximum else None,
        }
    for word in ("allocate", "free"):
        if bound := manifest.bounds.get(word):
            row |= {
                f"{word}_bound_cycles": bound.cycles,
                f"{word}_bound_ns": bound.ns,
                f"{word}_bound_grows": bound.region_decided,
            }
    if manifest.footprint is not None:
        row |= manifest.footprint.model_dump(include={"flash_bytes", "static_ram_bytes"})
    if memory is not None:
        row |= memory.model_dump(include={"peak_live_bytes", "used_bytes", "fragmentation_percent"})
    return row


def _reason(reasons: list[str]) -> str | None:
    return reasons[0][:MOST_REASON] if reasons else None


def listed(values: Mapping[str, object]) -> str:
    """`a=1, b=2`, in the order of the names."""
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items()))


def _time(folder: Path, dated: Path) -> datetime | None:
    """When the run began, as its folder's name tells; else when the file was written."""
    if stamp := _STAMP.match(folder.name):
        with suppress(ValueError):
            return datetime.strptime(stamp[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    try:
        return datetime.fromtimestamp(dated.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None
