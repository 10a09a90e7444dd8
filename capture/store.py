"""Writes what a run leaves in its folder: first what was observed, then what was found in that."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl

from base.files.errors import TailscopeError
from base.files.whole import WriteError
from base.run_folder import folder as names
from base.run_folder.edges import EdgeList
from base.run_folder.folder import RunFolder, RunName
from base.run_folder.manifest import Manifest, Verdict
from base.run_folder.memory import with_memory
from base.run_folder.session_file import MOST_SAMPLES, write_sr
from base.run_folder.tables import write_table
from capture.acquisition.observe import Observation
from capture.joining.evidence import Evidence
from capture.plan_file import write_plan
from capture.summary.summary import Setting, summarise_run
from scenarios.plan import Plan


@dataclass(frozen=True)
class RunResult:
    """A finished run: its folder, its verdict, and a sentence for each reason."""

    folder: Path
    verdict: Verdict
    reasons: tuple[str, ...]


def begin_folder(runs: Path, name: RunName, began: datetime, plan: Plan) -> RunFolder:
    """A new folder in `runs` for a run that began, with what it will take to decode it again.

    Raises TailscopeError where it cannot be made; then nothing of it is left.
    """
    folder = RunFolder.create(runs, began, *name)
    try:
        _store_plan(folder, plan)
    except WriteError:
        folder.remove()
        raise
    return folder


def keep_observation(folder: RunFolder, plan: Plan, seen: Observation) -> None:
    """Writes what was observed into the run's `folder`, or, where that fails, anywhere.

    Raises WriteError, which says where the data is, if not all of it is in `folder`.
    """
    try:
        store_observation(folder, plan, seen.edges, seen.serial_bytes, seen.counts)
    except TailscopeError as error:
        kept = _kept_elsewhere(folder.path.name, plan, seen)
        if kept is not None:
            folder.remove()
            words = f"is kept in {kept.path}: move it to {folder.path.parent} and ./lab redecode it."
        elif (folder.path / names.EDGE_STREAM).exists():
            words = f"reached the disk: make room and ./lab redecode {folder.path}"
        else:
            folder.remove()
            words = "fits into the temporary folder neither, and is not kept."
        raise WriteError(f"{error} What was captured {words}") from None
    folder.remove_file(names.EDGE_STREAM)


def _kept_elsewhere(name: str, plan: Plan, seen: Observation) -> RunFolder | None:
    """The run in the temporary folder; None where it cannot be there, and then no part of it is."""
    try:
        above = Path(tempfile.mkdtemp(prefix="tailscope-kept-"))
    except OSError:
        return None
    try:
        folder = RunFolder(above / name)
        store_observation(folder, plan, seen.edges, seen.serial_bytes, seen.counts)
        return folder
    except TailscopeError:
        shutil.rmtree(above, ignore_errors=True)
        return None


def store_observation(
    folder: RunFolder, plan: Plan, edges: EdgeList, serial_bytes: bytes, counts: bytes | None = None
) -> None:
    """Writes what cannot be had again: image, plan, records, the virtual board's counts, edges.

    The largest comes last. Raises WriteError.
    """
    _store_plan(folder, plan)
    folder.write_bytes(names.SERIAL_LOG, serial_bytes)
    if counts is not None:
        folder.write_bytes(names.COUNTS, counts)
    folder.write(names.EDGES, edges.write_parquet)


def _store_plan(folder: RunFolder, plan: Plan) -> None:
    folder.write_bytes(names.IMAGE, plan.image)
    folder.write(names.PLAN, lambda path: write_plan(path, plan))


def store_session(folder: RunFolder, edges: EdgeList) -> tuple[str, ...]:
    """Writes the copy for PulseView. Where that fails,
    nothing is lost: returns a sentence for run.json.
    """
    if edges.total_samples > MOST_SAMPLES:
        return (
            f"There is no copy of the capture for PulseView: it would have {edges.total_samples:,} "
            f"samples, and at most {MOST_SAMPLES:,} are unpacked.",
        )
    try:
        folder.write(names.SESSION, lambda path: write_sr(path, edges))
    except WriteError as error:
        return (f"There is no copy of the capture for PulseView: {error} Decode the run again to have one.",)
    return ()


def store_findings(folder: RunFolder, evidence: Evidence, setting: Setting) -> RunResult:
    """Writes the tables and, last of all, run.json. Raises WriteError."""
    manifest = summarise_run(evidence, setting)
    folder.write(names.OPERATIONS, _writer(with_memory(evidence.joined.operations, setting.memory)))
    folder.write(names.INTERRUPTS, _writer(evidence.joined.interrupts))
    folder.write_json(names.MANIFEST, manifest.as_json())
    return _result(folder, manifest)


def _writer(table: pl.DataFrame) -> Callable[[Path], None]:
    return lambda path: write_table(path, table)


def _result(folder: RunFolder, manifest: Manifest) -> RunResult:
    return RunResult(folder.path, manifest.verdict, tuple(manifest.reasons))
