"""One run folder as a row of the index (docs/reference/run-index.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..files.documents import check, open_json
from ..files.errors import RunError
from ..run_folder.alike import Options
from ..run_folder.folder import RunName, check_members, is_observed
from ..run_folder.manifest import REMEDY, Bound, Manifest, read_manifest
from ..run_folder.observed import ObservedManifest
from ..run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, SECTION, TASK
from ..run_folder.tables import schema_of
from .naming import configuration

HEADLINES = (SECTION.key, CRITICAL.key, FREE_CRITICAL.key, LATENCY.key, TASK.key)
"""The statistics of run.json whose maxima the index has: their columns begin with these names."""

_BOUNDED = ("allocate", "free")

COLUMNS = schema_of("index")
"""What a reader sees of each run."""

MOST_REASON = 600
"""Characters of a sentence in a row."""
_STAMP = re.compile(r"\d{8}T\d{6}Z")


def row_of(folder: Path, identity: str) -> dict[str, Any]:
    """The row of the run in `folder`, which has a run.json; `identity` is its id.

    A damaged file is a row too, with the sentence that says what is wrong.
    """
    path = folder / "run.json"
    row: dict[str, Any] = {"id": identity, "time": _time(folder, path)}
    try:
        return row | _told(folder, path)
    except RunError as error:
        return row | {"state": "damaged", "problem": str(error)[:MOST_REASON]}


def unfinished_row(folder: Path, identity: str) -> dict[str, Any]:
    """The row of a folder without a run.json: its run is not over, or was killed."""
    problem = (
        f"{identity} has no run.json, so the run was killed, or is not over yet; "
        "./lab redecode it, or run the scenario again."
    )
    row = {"id": identity, "time": _time(folder, folder), "state": "unfinished", "problem": problem}
    name = RunName.of(folder)
    return row if name is None else row | name._asdict()


def _told(folder: Path, path: Path) -> dict[str, Any]:
    check_members(folder)
    if is_observed(folder):
        document = open_json(path, RunError, remedy=REMEDY)
        return _observed(check(document.values, ObservedManifest, path, RunError))
    return finished(read_manifest(path))


def _observed(manifest: ObservedManifest) -> dict[str, Any]:
    """A run from the wire alone: it has no operations, and so no maxima of ours."""
    program = manifest.program
    return {
        "state": "observed",
        "problem": "A run from the wire alone (./lab observe): it has no operations.",
        "configuration": program.elf,
        "firmware_sha256": program.elf_sha256,
        "board": manifest.board,
        "analyzer": manifest.analyzer,
        "samplerate_hz": manifest.samplerate_hz,
        **_verdict(manifest.verdict, manifest.reasons),
    }


def finished(manifest: Manifest) -> dict[str, Any]:
    """The columns of an index row, from the run.json of a run with operations."""
    stimulus, firmware, memory = manifest.stimulus, manifest.firmware, manifest.memory
    row: dict[str, Any] = {
        "state": "finished",
        "scenario": manifest.scenario,
        "allocator": manifest.allocator,
        "configuration": configuration(manifest),
        "board": manifest.board,
        "board_folder": manifest.board_folder,
        "analyzer": manifest.analyzer,
        "samplerate_hz": manifest.samplerate_hz,
        "parameters": listed(manifest.parameters),
        "stimulus": f"{stimulus.mode}:{stimulus.period_ticks},{stimulus.control_period_ticks}",
        "seed": None if manifest.seed is None else str(manifest.seed),
        "art": manifest.accelerated,
        "locking": manifest.locking,
        "knobs": listed(manifest.knobs),
        "heap_bytes": firmware.heap_bytes,
        "records": manifest.records,
        "outside_sha256": manifest.outside.sha256 if manifest.outside else None,
        "firmware_sha256": firmware.elf_sha256,
        "options_sha256": Options.of(manifest).sha256,
        "operations": manifest.counts.operations,
        **_verdict(manifest.verdict, manifest.reasons),
    }
    for key in HEADLINES:
        row |= _headline(key, manifest)
    for word in _BOUNDED:
        row |= _bound(word, manifest.bounds.get(word))
    if manifest.footprint is not None:
        row |= {
            "flash_bytes": manifest.footprint.flash_bytes,
            "static_ram_bytes": manifest.footprint.static_ram_bytes,
        }
    if memory is not None:
        row |= {
            "peak_live_bytes": memory.peak_live_bytes,
            "used_bytes": memory.used_bytes,
            "fragmentation_percent": _number(memory.fragmentation_percent),
        }
    return row


def _verdict(verdict: str, reasons: list[str]) -> dict[str, Any]:
    return {"verdict": verdict, "reason": reasons[0][:MOST_REASON] if reasons else None}


def _headline(key: str, manifest: Manifest) -> dict[str, Any]:
    summary, budget = manifest.statistics.get(key), manifest.error_budget.get(key)
    maximum = manifest.maxima.get(key)
    return {
        f"{key}_n": summary.n if summary else 0,
        f"{key}_max": _number(summary.max) if summary else None,
        f"{key}_budget": _number(budget.total.ns) if budget else None,
        f"{key}_key": maximum.selection_key if maximum else None,
    }


def _bound(word: str, bound: Bound | None) -> dict[str, Any]:
    if bound is None:
        return {}
    return {
        f"{word}_bound_cycles": bound.cycles,
        f"{word}_bound_ns": _number(bound.ns),
        f"{word}_bound_grows": bound.region_decided,
    }


def listed(values: Mapping[str, object]) -> str:
    """`a=1, b=2`, in the order of the names."""
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items()))


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _time(folder: Path, dated: Path) -> datetime | None:
    """When the run began, as its folder's name tells; else when the file was written."""
    if stamp := _STAMP.match(folder.name):
        try:
            return datetime.strptime(stamp[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            pass
    try:
        return datetime.fromtimestamp(dated.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None
