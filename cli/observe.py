"""`./lab observe`: any program on any board, from the wire alone."""

from __future__ import annotations

import json as json_format
import re
import sys
from pathlib import Path
from typing import Any, get_args

from base.files.errors import near_miss
from base.run_folder import folder as names
from base.run_folder.observed import ObservedManifest, StimulusEdges, read_observed_manifest
from capture import observed_run
from capture.desk.bench import read_bench
from capture.desk.pins import check_pins, clips
from capture.store import RunResult
from cli import kept, options, where, wire_table
from cli.options import OptionError

EXAMPLE = "CRIT=PA8,STIM=PA0,ISR=PA10"
SECONDS_OF = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}


def show(*, json: bool, **words: Any) -> bool:
    """Does what run() does, and prints what was observed; whether it is complete."""
    results: list[RunResult] = []
    with kept.told(results, "nothing was recorded"):
        results.append(run(**words))
        folder = results[0].folder
        print(json_format.dumps(as_json(folder), indent=2) if json else as_text(folder))
    return results[0].verdict == "complete"


def run(
    *, pins: str, elf: str, board: str, duration: str, samplerate: str, edges: str, runs_folder: Path
) -> RunResult:
    """Observes, in the words of the command line. Raises TailscopeError.

    On an emulated board the command runs again on its desk, and SystemExit carries its status.
    """
    resource = read_bench().board(board or None)
    checked = check_pins(options.pairs("pins", pins, EXAMPLE), resource)
    rate_hz = options.parse(samplerate=samplerate).samplerate_hz or resource.analyzer.samplerate_hz
    wanted = observed_run.Wanted(
        pins=checked,
        elf=Path(elf) if elf else None,
        duration_s=seconds(duration),
        samplerate_hz=rate_hz,
        stimulus_edges=_stimulus_edges(edges),
    )
    observed_run.check(resource, wanted)
    where.run(resource.name, clips(checked, resource))
    return observed_run.run(resource, wanted, runs_folder, _tell)


def seconds(word: str) -> float:
    """`2s`, `500ms`, `20us` or a bare number of seconds. Raises OptionError."""
    match = re.fullmatch(r"([0-9]{1,9}\.?[0-9]{0,9}|\.[0-9]{1,9})(s|ms|us)?", word)
    value = float(match[1]) * SECONDS_OF[match[2] or ""] if match else 0.0
    if value <= 0:
        raise OptionError(f"--duration {word[:40]}: give a time, such as 2s or 500ms.")
    return value


def _stimulus_edges(word: str) -> StimulusEdges:
    for known in get_args(StimulusEdges):
        if word == known:
            return known  # type: ignore[no-any-return]
    raise OptionError(
        f"--edges {word[:40]}: give {', '.join(get_args(StimulusEdges))}."
        f"{near_miss(word, get_args(StimulusEdges))}"
    )


def _tell(step: str) -> None:
    print(f"{step} …", file=sys.stderr, flush=True)


def as_json(folder: Path) -> dict[str, Any]:
    """run.json, and the folder that it is in."""
    manifest = read_observed_manifest(folder / names.MANIFEST)
    return {"folder": str(folder), **manifest.model_dump(mode="json", by_alias=True)}


def as_text(folder: Path) -> str:
    """What was observed, a table, what to know of it, the verdict; last the folder."""
    found = read_observed_manifest(folder / names.MANIFEST)
    notes = [*found.missing, *found.warnings]
    return "\n".join(
        [
            _heading(found),
            "",
            *wire_table.lines(
                found.widths_ns, found.intervals_ns, found.latencies_ns, empty_section=found.calibration_ns
            ),
            "",
            *notes,
            " ".join([f"{found.verdict}:" if found.reasons else found.verdict, *found.reasons]),
            str(folder),
        ]
    )


def _heading(found: ObservedManifest) -> str:
    duration_s = found.total_samples / found.samplerate_hz
    pins = ", ".join(f"{channel} on {pin}" for channel, pin in found.pins.items())
    program = found.program.elf or "what was on the board"
    clock = ""
    if found.clock:
        ppm, unsure_ppm = (found.clock.ratio - 1) * 1e6, found.clock.ratio_uncertainty * 1e6
        clock = f" By the frames its clock is off the board's by {ppm:+.0f} ppm (to {unsure_ppm:.0f})."
    return (
        f"{program} on {found.board}: {found.total_samples:,} samples at {found.samplerate_hz:,} Hz, "
        f"{duration_s:.6g} s; {pins}. Each edge is known to a sample of {found.resolution_ns:.1f} ns.{clock}"
    )
