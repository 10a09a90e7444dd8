"""`./lab decode`: a capture of another tool, judged as a run, or told pulse by pulse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.metrology.quantiles import Summary, summarise
from capture import imported_run
from capture.importing import formats
from capture.importing.formats import Import
from capture.reading.vectorised import pulses, responses
from capture.run_folder.edges import NS_PER_S, EdgeList
from capture.store import RunResult
from console.options import OptionError, Options
from firmware.catalogue import allocators
from scenarios import catalogue

_PULSED = ("CRIT", "OP", "ISR", "TASK", "CISR")
_ANSWERED = (("STIM", "ISR"), ("STIM", "TASK"), ("CTRL", "CISR"))
_SHOWN = ("n", "min", "median", "p99", "max")

NO_PLAN = (
    "Without records and the scenario there is nothing to hold these against; give --run, or --scenario, "
    "--allocator and --uart."
)


@dataclass(frozen=True)
class Pulses:
    """What the wire alone shows: widths, intervals between begins and latencies, all in ns."""

    imported: Import
    widths_ns: dict[str, Summary]
    intervals_ns: dict[str, Summary]
    latencies_ns: dict[str, Summary]

    def as_json(self) -> dict[str, Any]:
        """As docs/SPEC.md, section 17, has it."""
        edges = self.imported.edges
        return {
            "verdict": "inconclusive",
            "reasons": [*imported_run.report(self.imported).oddities, NO_PLAN],
            "imported": self.imported.origin.model_dump(mode="json"),
            "samplerate_hz": edges.samplerate_hz,
            "total_samples": edges.total_samples,
            **{
                key: {name: found.model_dump(mode="json") for name, found in part.items()}
                for key, part in (
                    ("widths_ns", self.widths_ns),
                    ("intervals_ns", self.intervals_ns),
                    ("latencies_ns", self.latencies_ns),
                )
            },
        }


def run(
    file: str,
    *,
    channels: str,
    uart: str,
    run: str,
    scenario: str,
    allocator: str,
    options: Options,
    runs_folder: Path,
) -> RunResult | Pulses:
    """Imports `file` and judges it, or tells of its pulses where no run is named.

    Raises TailscopeError.
    """
    if run and (scenario or allocator):
        raise OptionError("Name the run by --run, or the firmware by --scenario and --allocator, not both.")
    if bool(scenario) != bool(allocator):
        raise OptionError("--scenario and --allocator go together: the records tell of both.")
    if uart and not (run or scenario):
        raise OptionError(
            "--uart alone is not enough: say what ran, by --run or by --scenario and --allocator."
        )
    log = Path(uart) if uart else None
    account = None
    if run:
        account = imported_run.of_run(Path(run), log)
    elif scenario:
        account = _of_scenario(scenario, allocator, options, log)
    imported = formats.read(Path(file), parse_channels(channels), options.samplerate_hz)
    return imported_run.store(imported, account, runs_folder) if account else _pulses(imported)


def parse_channels(words: str) -> dict[str, str] | None:
    """`CRIT=D0,OP=D1` as a table; None for no words. Raises OptionError."""
    if not words:
        return None
    pairs = [word.partition("=") for word in words.split(",")]
    if any(not (ours and equals and theirs) for ours, equals, theirs in pairs):
        raise OptionError(f"--channels {words[:80]}: give OURS=THEIRS, such as CRIT=D0,OP=D1.")
    found = {ours.strip().upper(): theirs.strip() for ours, _, theirs in pairs}
    if len(found) != len(pairs):
        raise OptionError(f"--channels {words[:80]}: it names a channel twice.")
    return found


def _of_scenario(name: str, allocator: str, options: Options, log: Path | None) -> imported_run.Account:
    if allocator not in allocators():
        raise OptionError(f"--allocator {allocator[:80]}: there is none of that name; see ./lab list.")
    plan = catalogue.load(
        name, options.parameters, seed=options.seed, stimulus=options.stimulus, heap_bytes=options.heap_bytes
    ).compile()
    return imported_run.of_plan(plan.recorded_by(options.records), allocator, log)


def _pulses(imported: Import) -> Pulses:
    edges = imported.edges
    there = set(edges.channels)
    trains = {name: pulses(edges, name) for name in _PULSED if name in there}
    latencies = {
        f"{stimulus} to {answer}": _latencies(edges, stimulus, answer)
        for stimulus, answer in _ANSWERED
        if {stimulus, answer} <= there
    }
    ns = NS_PER_S / edges.samplerate_hz
    return Pulses(
        imported,
        {name: summarise((train.end - train.start) * ns) for name, train in trains.items()},
        {name: summarise((train.start[1:] - train.start[:-1]) * ns) for name, train in trains.items()},
        latencies,
    )


def _latencies(edges: EdgeList, stimulus: str, answer: str) -> Summary:
    found = responses(edges, stimulus, answer)
    answered = found.answer_sample >= 0
    waited = found.answer_sample[answered] - found.stimulus_sample[answered]
    return summarise(waited * (NS_PER_S / edges.samplerate_hz))


def as_text(found: Pulses) -> str:
    """A line for each of the summaries, and what is to be said of them."""
    edges, origin = found.imported.edges, found.imported.origin
    named = ", ".join(f"{ours} is {theirs}" for ours, theirs in origin.channels.items())
    rows: list[tuple[str, ...]] = [("ns", *_SHOWN)]
    for title, part in (
        ("{}, width", found.widths_ns),
        ("{}, begin to begin", found.intervals_ns),
        ("{}", found.latencies_ns),
    ):
        rows += [(title.format(name), *_cells(summary)) for name, summary in part.items()]
    lines = [f"{first:<22}" + "".join(f"{cell:>16}" for cell in cells) for first, *cells in rows]
    duration_s = edges.total_samples / edges.samplerate_hz
    return "\n".join(
        [
            f"{origin.file} ({origin.format}): {edges.total_samples:,} samples at {edges.samplerate_hz:,} Hz "
            f"({_RATE_FROM[origin.samplerate_from]}), {duration_s:.6g} s; {named}.",
            "",
            *lines,
            "",
            " ".join(["inconclusive:", *imported_run.report(found.imported).oddities, NO_PLAN]),
        ]
    )


_RATE_FROM = {
    "file": "as the file states",
    "option": "as given",
    "resolution": "the resolution of the file's times; the analyzer's own is not stated",
}


def _cells(summary: Summary) -> list[str]:
    values = [getattr(summary, name) for name in _SHOWN]
    return [
        "-" if value is None else f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
        for value in values
    ]
