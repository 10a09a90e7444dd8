"""`./lab decode`: a capture of another tool, judged as a run, or told pulse by pulse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.paths import RUNS
from capture.acquisition import imported as other_tools
from capture.acquisition.account import outside_of
from capture.acquisition.source import Request
from capture.conduct import run as conduct
from capture.importing import formats
from capture.importing.formats import Import
from capture.reading.observed import ObservedWire, read_observed
from capture.store import RunResult
from cli.shell.values import OptionError
from cli.work import wire_table
from cli.work.options import Options
from cli.work.plan import compiled
from firmware.build import boards, outside

NO_PLAN = (
    "Without records and the scenario there is nothing to hold these against; give --run, or --scenario, "
    "--allocator and --uart."
)


@dataclass(frozen=True)
class Pulses:
    """What the wire alone shows: widths, intervals between begins and latencies, all in ns."""

    imported: Import
    observed: ObservedWire

    def as_json(self) -> dict[str, Any]:
        """As docs/reference/decode.md has it."""
        edges = self.imported.edges
        return {
            "verdict": "inconclusive",
            "reasons": [*self.imported.losses, *other_tools.report(self.imported).oddities, NO_PLAN],
            "imported": self.imported.origin.model_dump(mode="json"),
            "samplerate_hz": edges.samplerate_hz,
            "total_samples": edges.total_samples,
            **{
                key: {name: found.model_dump(mode="json") for name, found in part.items()}
                for key, part in (
                    ("widths_ns", self.observed.widths_ns),
                    ("intervals_ns", self.observed.intervals_ns),
                    ("latencies_ns", self.observed.latencies_ns),
                )
            },
        }


def run(
    file: Path,
    *,
    channels: Mapping[str, str] | None = None,
    uart: Path | None = None,
    run: Path | None = None,
    scenario: str | None = None,
    allocator: Sequence[str] | None = None,
    board: str | None = None,
    options: Options,
    runs_folder: Path = RUNS,
) -> RunResult | Pulses:
    """Imports `file` and judges it, or tells of its pulses where no run is named.

    Raises TailscopeError.
    """
    if run and (scenario or allocator):
        raise OptionError("Name the run by --run, or the firmware by --scenario and --allocator, not both.")
    if bool(scenario) != bool(allocator):
        raise OptionError("--scenario and --allocator go together: the records tell of both.")
    if board and not scenario:
        raise OptionError(
            "--board goes with --scenario and --allocator: a run folder tells its board itself, and of "
            "pulses alone none is needed."
        )
    if uart and not (run or scenario):
        raise OptionError(
            "--uart alone is not enough: say what ran, by --run or by --scenario and --allocator."
        )
    if options.ignore_glitches and not (run or scenario):
        raise OptionError(
            "--ignore-glitches needs the records, which tell the firmware's shortest pulse: give --run, or "
            "--scenario, --allocator and --uart."
        )
    account = None
    if run:
        account = other_tools.of_run(run, uart)
    elif scenario and allocator:
        account = _of_scenario(scenario, allocator, options, uart, board)
    imported = formats.read(file, channels or None, options.samplerate_hz)
    if account:
        request = Request(runs=runs_folder)
        return conduct(other_tools.Imported(imported, account, request, options.ignore_glitches))
    return Pulses(imported, read_observed(imported.edges, framed=False))


def _of_scenario(
    name: str, allocator: Sequence[str], options: Options, log: Path | None, board: str | None
) -> other_tools.Beside:
    named = outside.admit(allocator)
    if len(named) != 1:
        raise OptionError(f"--allocator {','.join(allocator)[:80]}: give one, the one that was captured.")
    on = boards.default() if board is None else boards.named(board)
    planned = compiled(name, options, on).recorded_by(options.records)
    asked = None if board is None else on.word
    return other_tools.of_plan(planned, named[0], log, outside_of(named[0]), asked)


def as_text(found: Pulses) -> str:
    """A line for each of the summaries, and what is to be said of them."""
    edges, origin = found.imported.edges, found.imported.origin
    named = ", ".join(f"{ours} is {theirs}" for ours, theirs in origin.channels.items())
    duration_s = edges.total_samples / edges.samplerate_hz
    return "\n".join(
        [
            f"{origin.file} ({origin.format}): {edges.total_samples:,} samples at {edges.samplerate_hz:,} Hz "
            f"({_RATE_FROM[origin.samplerate_from]}), {duration_s:.6g} s; {named}.",
            "",
            *wire_table.lines(
                found.observed.widths_ns, found.observed.intervals_ns, found.observed.latencies_ns
            ),
            "",
            " ".join(["inconclusive:", *found.as_json()["reasons"]]),
        ]
    )


_RATE_FROM = {
    "file": "as the file states",
    "option": "as given",
    "resolution": "the resolution of the file's times; the analyzer's own is not stated",
}
