"""`./lab observe`: any program on any board, from the wire alone."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from base.files.errors import CaptureError
from base.microseconds import microseconds
from base.paths import RUNS
from base.run_folder import folder as names
from base.run_folder.observed import (
    Keep,
    ObservedManifest,
    StimulusEdges,
    read_observed_manifest,
)
from capture.acquisition.pins import Pins, PinsRequest
from capture.conduct import run as conduct
from capture.desk.bench import BoardResource, read_bench
from capture.desk.pins import check_pins, clips
from capture.store import RunResult
from cli.work import kept, kept_windows, where, wire_table
from cli.work.live_wire import LiveWire
from simulator.program import ProgramOptions, user_program


class ObserveOptions(ProgramOptions):
    """The options of the command but --json; those of a program are for a virtual board."""

    pins: Mapping[str, str]
    elf: Path | None
    board: str | None
    duration_s: float
    samplerate_hz: int | None
    edges: StimulusEdges
    keep: int | None
    around_s: float
    live: bool


def show(*, json: bool, **options: Unpack[ObserveOptions]) -> bool:
    """Does what run() does, and prints what was observed; whether it is complete."""
    results: list[RunResult] = []
    with kept.told(results, "nothing was recorded"):
        results.append(run(**options))
        folder = results[0].folder
        print(json_format.dumps(as_json(folder), indent=2) if json else as_text(folder))
    return results[0].verdict == "complete"


def run(
    *,
    pins: Mapping[str, str],
    elf: Path | None,
    board: str | None,
    duration_s: float,
    samplerate_hz: int | None,
    edges: StimulusEdges,
    keep: int | None,
    around_s: float,
    live: bool,
    **program: Unpack[ProgramOptions],
) -> RunResult:
    """Observes a program; `live` shows the wire meanwhile. Raises TailscopeError.

    `keep` is how many windows are kept of each quantity, with `around_s` on either side; None keeps
    all.

    On an emulated board the command runs again on its desk, and SystemExit carries its status.
    """
    resource = read_bench().board(board)
    checked = check_pins(pins, resource)
    request = PinsRequest(
        resource,
        pins=checked,
        elf=elf,
        duration_s=duration_s,
        samplerate_hz=samplerate_hz or resource.analyzer.samplerate_hz,
        stimulus_edges=edges,
        runs=RUNS,
        progress=_tell,
        keep=Keep(worst=keep, around_s=around_s) if keep else None,
    )
    Pins(request).check()
    options = _options(resource, elf, program)
    where.run(board, clips(checked, resource), options)
    request = replace(request, options=options)
    if not live:
        return conduct(Pins(request))
    wire = LiveWire(edges, resource.board.core_hz)
    with wire.shown():
        return conduct(Pins(replace(request, wire=wire)))


def _options(resource: BoardResource, elf: Path | None, program: ProgramOptions) -> tuple[str, ...]:
    """What the virtual board is told of the program. Raises TailscopeError of a real board."""
    virtual = resource.loader.kind == "virtual-nucleo" or resource.emulated is not None
    given = sorted(f"--{name.replace('_', '-')}" for name, value in program.items() if value)
    if virtual and elf is not None:
        own = "".join(resource.board.virtual_options[1:])
        program["chip"] = program.get("chip") or own
        return user_program(elf, **program).options
    if given and not virtual:
        raise CaptureError(
            f"{', '.join(given)}: only a virtual board can be told so, and {resource.name!r} is a real one."
        )
    return ()


def _tell(step: str) -> None:
    print(f"{step} …", file=sys.stderr, flush=True)


def as_json(folder: Path) -> dict[str, Any]:
    """run.json, and the folder that it is in."""
    manifest = read_observed_manifest(folder / names.MANIFEST)
    return {"folder": str(folder), **manifest.model_dump(mode="json", by_alias=True)}


def as_text(folder: Path) -> str:
    """What was observed, a table, what to know of it, the verdict; last the folder."""
    manifest = read_observed_manifest(folder / names.MANIFEST)
    notes = [*manifest.missing, *manifest.warnings]
    unsure = manifest.unjudged and manifest.verdict == "complete"
    verdict = f"{manifest.verdict}, as far as the wire tells" if unsure else manifest.verdict
    sentences = [*manifest.reasons, *manifest.unjudged]
    return "\n".join(
        [
            _heading(manifest),
            "",
            *wire_table.lines(
                manifest.widths_ns,
                manifest.intervals_ns,
                manifest.latencies_ns,
                empty_section=manifest.calibration_ns,
            ),
            "",
            *kept_windows.lines(manifest, folder),
            *notes,
            " ".join([f"{verdict}:" if sentences else verdict, *sentences]),
            str(folder),
        ]
    )


def _heading(manifest: ObservedManifest) -> str:
    duration_s = manifest.total_samples / manifest.samplerate_hz
    pins = ", ".join(f"{channel} on {pin}" for channel, pin in manifest.pins.items())
    program = manifest.program.elf or "what was on the board"
    clock = ""
    if manifest.clock:
        ppm, unsure_ppm = (manifest.clock.ratio - 1) * 1e6, manifest.clock.ratio_uncertainty * 1e6
        clock = f" By the frames its clock is off the board's by {ppm:+.0f} ppm (to {unsure_ppm:.0f})."
    return (
        f"{program} on {manifest.board}: {manifest.total_samples:,} samples at {manifest.samplerate_hz:,} "
        f"Hz, {duration_s:.6g} s; {pins}. "
        f"Each edge is known to a sample of {microseconds(manifest.resolution_ns)}.{clock}"
    )
