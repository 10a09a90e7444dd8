"""Conducts a run from the wire alone: any program on any board, without operations and records."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from base.files.errors import CaptureError, TailscopeError
from base.files.whole import WriteError
from base.processes import signals
from base.run_folder import folder as names
from base.run_folder.edges import EdgeList
from base.run_folder.folder import RunFolder, RunName, check_writable
from base.run_folder.manifest import ToolReport
from base.run_folder.observed import KIND, SCHEMA, Asked, ObservedManifest, Program, StimulusEdges
from base.run_folder.progress_file import ProgressFile
from capture.acquisition.live import Live, Watch
from capture.acquisition.observe import Order, Progress, observe
from capture.acquisition.sigrok_cli import CaptureRequest, versions
from capture.desk.bench import BoardResource
from capture.desk.board import Board
from capture.desk.foreign_elf import checked_digest
from capture.desk.open_board import open_board
from capture.desk.pins import clips
from capture.reading.alone import read_alone
from capture.store import RunResult, store_session
from capture.summary.alone import summarise_observed
from capture.verdict.alone import Seen

SCENARIO = "observe"
NOBODY = "on_board"
"""Where other runs have the allocator's name, and no ELF file has one to give."""


@dataclass(frozen=True)
class Wanted:
    """What is to be observed: the pin of each channel, for how long, at which samplerate.

    `elf` is loaded; None leaves the board alone. `stimulus_edges` of STIM and CTRL are stimuli.
    """

    pins: Mapping[str, str]
    elf: Path | None
    duration_s: float
    samplerate_hz: int
    stimulus_edges: StimulusEdges = "both"


def check(resource: BoardResource, wanted: Wanted) -> str | None:
    """Raises CaptureError for what cannot be observed, before anything is started.

    Returns the SHA-256 of the program; None where none is given.
    """
    resource.analyzer.check_rate(wanted.samplerate_hz)
    samples = round(wanted.samplerate_hz * wanted.duration_s)
    CaptureRequest(resource.analyzer.driver, None, wanted.samplerate_hz, samples)
    if wanted.elf is not None:
        if resource.loader.kind == "none":
            raise CaptureError(
                f"The board {resource.name!r} has no loader in bench.toml, so --elf cannot be flashed: load "
                "it yourself and leave out --elf."
            )
        return checked_digest(wanted.elf)
    if resource.loader.kind == "virtual-nucleo" or resource.emulated:
        raise CaptureError(
            f"Nothing is on the board {resource.name!r}, which is no real one: give a program by --elf."
        )
    return None


def run(
    resource: BoardResource,
    wanted: Wanted,
    runs_folder: Path,
    progress: Progress = lambda _: None,
    live: Live = lambda _: None,
) -> RunResult:
    """Observes the board's pins, and returns where all that came of it is kept.

    Raises TailscopeError where nothing could be observed, and WriteError where not all of it can be
    kept. A run that is broken raises nothing: its verdict says so. Signals, `progress` and `live`
    are as in conductor.run().
    """
    digest = check(resource, wanted)
    order = Order(
        elf=wanted.elf,
        image=b"",
        analyzer=resource.analyzer,
        samplerate_hz=wanted.samplerate_hz,
        duration_s=wanted.duration_s,
        records="none",
        channels=tuple(wanted.pins),
    )
    with signals.orderly(), ExitStack() as stack:
        check_writable(runs_folder)
        began = datetime.now(UTC)
        name = RunName(SCENARIO, _name_of(wanted.elf), resource.name)
        with open_board(resource, "none", clips=clips(wanted.pins, resource)) as board:
            asked = _asked(resource, wanted, digest, board)
            folder = RunFolder.create(runs_folder, began, *name)
            watch = Watch(name, began, stack.enter_context(ProgressFile(folder.path)), progress, live)
            try:
                folder.write_json(names.OBSERVED, asked.model_dump(mode="json", by_alias=True))
                observation = observe(board, order, watch.step, folder.path, watch)
            except (TailscopeError, signals.Stopped):
                folder.remove()
                raise
        watch.step("judging")
        try:
            return _store(folder, asked, observation.edges, observation.report)
        except WriteError as error:
            raise WriteError(f"{error} The capture is kept: ./lab redecode {folder.path}") from None


def again(folder: Path, asked: Asked, edges: EdgeList, report: ToolReport) -> RunResult:
    """Judges a stored run again, and replaces what was found in it. Raises WriteError."""
    run_folder = RunFolder(folder)
    run_folder.remove_file(names.PROGRESS)
    return _store(run_folder, asked, edges, report)


def _asked(resource: BoardResource, wanted: Wanted, digest: str | None, board: Board) -> Asked:
    content = {
        "schema": SCHEMA,
        "kind": KIND,
        "board": resource.name,
        "analyzer": resource.analyzer.driver,
        "pins": dict(wanted.pins),
        "stimulus_edges": wanted.stimulus_edges,
        "program": Program(elf=wanted.elf.name if wanted.elf else None, elf_sha256=digest),
        "tools": {**versions(), **board.tools(), "python": platform.python_version()},
    }
    return Asked.model_validate(content)


def _name_of(elf: Path | None) -> str:
    """What stands for the program in the folder's name, without a dash, which divides its parts."""
    return re.sub(r"[^A-Za-z0-9_.]+", "_", elf.stem)[:40] if elf else NOBODY


def _store(folder: RunFolder, asked: Asked, edges: EdgeList, report: ToolReport) -> RunResult:
    """Writes what was seen, and last of all run.json. Raises WriteError."""
    if not (folder.path / names.EDGES).exists():
        folder.write(names.EDGES, edges.write_parquet)
    folder.remove_file(names.EDGE_STREAM)
    notes = () if (folder.path / names.SESSION).exists() else store_session(folder, edges)
    manifest = _judged(asked, edges, report, notes)
    folder.write_json(names.MANIFEST, manifest.model_dump(mode="json", by_alias=True))
    return RunResult(folder.path, manifest.verdict, tuple(manifest.reasons))


def _judged(asked: Asked, edges: EdgeList, report: ToolReport, notes: tuple[str, ...]) -> ObservedManifest:
    if not set(edges.channels) <= set(asked.pins):
        raise CaptureError("The capture has other channels than were asked for; restore the run's files.")
    alone = read_alone(edges, asked.stimulus_edges)
    return summarise_observed(Seen(report, alone, asked.pins), asked, notes)
