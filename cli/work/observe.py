"""`./lab observe`: the wire of any program on any board, and what is told of any wire."""

from __future__ import annotations

import json as json_format
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from base.files.errors import CaptureError
from base.microseconds import decimals_of, microseconds
from base.paths import RUNS
from base.run_folder import folder as names
from base.run_folder.edges import NOT
from base.run_folder.observed import AskedEdges, Keep, ObservedManifest, read_observed_manifest
from capture.acquisition.pins import Pins, PinsRequest
from capture.conduct import run as conduct
from capture.desk.bench import BoardResource, read_bench
from capture.desk.pins import check_pins, clips
from capture.reading.counter import Growing
from capture.reading.observed import Questions
from capture.store import RunResult
from cli.work import kept, kept_windows, where, wire_table
from cli.work.live_wire import LiveWire
from simulator.program import ProgramOptions, user_program

_RATE_FROM = {
    "file": "as the file states",
    "option": "as given",
    "resolution": "the resolution of the file's times",
}


class ObserveOptions(ProgramOptions):
    """The options of the command but --json; those of a program are for a virtual board."""

    file: Path | None
    channels: Mapping[str, str]
    pulse: tuple[str, ...]
    low: tuple[str, ...]
    latency: tuple[str, ...]
    edges: AskedEdges
    elf: Path | None
    board: str | None
    duration_s: float
    samplerate_hz: int | None
    keep: int | None
    around_s: float
    live: bool
    run: Path | None
    uart: Path | None
    scenario: str | None
    allocator: list[str] | None
    stimulus: str | None
    seed: int | None
    parameter: tuple[tuple[str, str], ...]
    records: str
    ignore_glitches: bool


def questions(options: ObserveOptions) -> Questions:
    """What is asked of the wire."""
    pulses = [*options["pulse"], *(f"{NOT}{name}" for name in options["low"])]
    if not pulses and not options["latency"]:
        return Questions()
    return Questions.of(pulses, options["latency"])


def keep(options: ObserveOptions) -> Keep | None:
    """Which windows are kept; None for all of the capture."""
    return Keep(worst=options["keep"], around_s=options["around_s"]) if options["keep"] else None


def show(as_json: bool, options: ObserveOptions) -> int:
    """Does what run() does, and prints what was observed; the exit status."""
    results: list[RunResult] = []
    with kept.told(results, "nothing was recorded"):
        results.append(run(options))
        tell(results[0].folder, as_json)
    return int(results[0].verdict != "complete")


def tell(folder: Path, as_json: bool) -> None:
    """Prints what was observed, as text or as run.json and the folder that it is in."""
    if not as_json:
        print(as_text(folder))
        return
    manifest = read_observed_manifest(folder / names.MANIFEST)
    document = {"folder": str(folder), **manifest.model_dump(mode="json", by_alias=True)}
    print(json_format.dumps(document, indent=2))


def run(options: ObserveOptions) -> RunResult:
    """Observes pins of a board; with `live` it shows the wire meanwhile. Raises TailscopeError.

    On an emulated board the command runs again on its desk, and SystemExit carries its status.
    """
    resource = read_bench().board(options["board"])
    checked = check_pins(options["channels"], resource)
    wanted = questions(options)
    unknown = [name for name in wanted.channels if name not in checked]
    if unknown:
        raise CaptureError(f"{', '.join(unknown)}: no pin is named for it; add it to --channels.")
    request = PinsRequest(
        resource,
        pins=checked,
        elf=options["elf"],
        duration_s=options["duration_s"],
        samplerate_hz=options["samplerate_hz"] or resource.analyzer.samplerate_hz,
        stimulus_edges=options["edges"],
        pulses=wanted.pulses,
        latencies=None if wanted.latencies is None else [":".join(pair) for pair in wanted.latencies],
        runs=RUNS,
        progress=kept.tell_step,
        keep=keep(options),
    )
    Pins(request).check()
    words = _options(resource, options)
    where.run(options["board"], clips(checked, resource), words)
    request = replace(request, options=words)
    if not options["live"]:
        return conduct(Pins(request))
    which = "both" if options["edges"] == "auto" else options["edges"]
    wire = LiveWire(Growing(which, resource.board.core_hz, wanted))
    with wire.shown():
        return conduct(Pins(replace(request, wire=wire)))


def _options(resource: BoardResource, options: ObserveOptions) -> tuple[str, ...]:
    """What the virtual board is told of the program. Raises TailscopeError of a real board."""
    virtual = resource.loader.kind == "virtual-nucleo" or resource.emulated is not None
    program: ProgramOptions = {
        "chip": options["chip"],
        "hse": options["hse"],
        "strict": options["strict"],
        "gaps": options["gaps"],
        "semihosting": options["semihosting"],
        "any_core": options["any_core"],
        "attach": options["attach"],
    }
    given = sorted(f"--{name.replace('_', '-')}" for name, value in program.items() if value)
    if virtual and options["elf"] is not None:
        own = "".join(resource.board.virtual_options[1:])
        program["chip"] = program["chip"] or own
        return user_program(options["elf"], **program).options
    if given and not virtual:
        raise CaptureError(
            f"{', '.join(given)}: only a virtual board can be told so, and {resource.name!r} is a real one."
        )
    return ()


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
            *wire_table.lines(manifest),
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
    source = f"{manifest.program.elf or 'what was on the board'} on {manifest.board}"
    rate = ""
    if file := manifest.imported:
        source, rate = f"{file.file} ({file.format})", f" ({_RATE_FROM[file.samplerate_from]})"
        pins = ", ".join(
            ours if ours == theirs else f"{ours} is {theirs}" for ours, theirs in file.channels.items()
        )
    clock = ""
    if manifest.clock:
        ppm, unsure_ppm = (manifest.clock.ratio - 1) * 1e6, manifest.clock.ratio_uncertainty * 1e6
        clock = f" By the frames its clock is off the board's by {ppm:+.0f} ppm (to {unsure_ppm:.0f})."
    return (
        f"{source}: {manifest.total_samples:,} samples at {manifest.samplerate_hz:,} Hz{rate}, "
        f"{duration_s:.6g} s; {pins}. Each edge is known to a sample of "
        f"{microseconds(manifest.resolution_ns, decimals_of(manifest.resolution_ns))}.{clock}"
    )
