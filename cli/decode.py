"""`./lab decode`: a capture of another tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.shell import shared
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import BOARD_FOLDER, FILE, RUN, SAMPLERATE, SCENARIO, Allocators, OptionError, Pairs

if TYPE_CHECKING:
    from capture.acquisition.imported import Beside
    from capture.importing.formats import Import
    from cli.work.options import Options

NO_PLAN = (
    "Without records and the scenario there is nothing to hold these against; give --run, or --scenario, "
    "--allocator and --uart."
)
_RATE_FROM = {
    "file": "as the file states",
    "option": "as given",
    "resolution": "the resolution of the file's times; the analyzer's own is not stated",
}


@declare(section="Run and measure")
@argument(
    "file",
    type=FILE,
    help="a capture: .sr, VCD, CSV of sigrok, DSView or Saleae, or the folder of a binary export of Logic 2",
)
@option(
    "--channels",
    type=Pairs("CRIT=D0,OP=D1"),
    help="which is which: CRIT=D0,OP=D1,…; those of the same names when not given",
)
@option(
    "--samplerate",
    "samplerate_hz",
    type=SAMPLERATE,
    help="of the analyzer, where the file does not state it: 24000000 or 24m",
)
@option("--run", type=RUN, help="the run folder of the run that it was taken of")
@option("--uart", type=FILE, help="the records of that run, where they are not those in the run folder")
@option(
    "--scenario",
    type=SCENARIO,
    help="without a run folder: what ran, of `./lab list` or the path of a scenario's TOML",
)
@option("--allocator", type=Allocators(all_too=False), help="without a run folder: on which allocator")
@option(
    "--board",
    type=BOARD_FOLDER,
    help="without a run folder: the board that was captured, such as nucleo-f446re, or the path of its "
    "folder; what the records name, or else nucleo-f401re, when not given",
)
@shared.stimulus
@shared.seed
@shared.parameter
@shared.records
@shared.ignore_glitches
@json_option
def command(
    file: Path,
    channels: Mapping[str, str] | None,
    samplerate_hz: int | None,
    run: Path | None,
    uart: Path | None,
    scenario: str | None,
    allocator: list[str] | None,
    board: str | None,
    stimulus: str | None,
    seed: int | None,
    parameter: tuple[tuple[str, str], ...],
    records: str,
    ignore_glitches: bool,
    as_json: bool,
) -> int:
    """Decode and judge a capture of another tool.

    For example: ./lab decode capture.sr --channels CRIT=D0,OP=D1
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
    if ignore_glitches and not (run or scenario):
        raise OptionError(
            "--ignore-glitches needs the records, which tell the firmware's shortest pulse: give --run, or "
            "--scenario, --allocator and --uart."
        )
    from base.paths import RUNS
    from capture.acquisition import imported as other_tools
    from capture.acquisition.source import Request
    from capture.conduct import run as conduct
    from capture.importing import formats
    from cli.work.options import Options

    beside = None
    if run:
        beside = other_tools.of_run(run, uart)
    elif scenario and allocator:
        options = Options(parameters=dict(parameter), stimulus=stimulus, seed=seed, records=records)
        beside = _of_scenario(scenario, allocator, options, uart, board)
    imported = formats.read(file, channels or None, samplerate_hz)
    if beside is None:
        answer(as_json, lambda: pulses(imported), lambda: as_text(imported))
        return 1
    result = conduct(other_tools.Imported(imported, beside, Request(runs=RUNS), ignore_glitches))
    if as_json:
        print((result.folder / "run.json").read_text(encoding="utf-8"))
    else:
        print(f"{result.verdict}: {' '.join(result.reasons)}" if result.reasons else result.verdict)
        print(result.folder)
    return int(result.verdict != "complete")


def _of_scenario(
    name: str, allocator: Sequence[str], options: Options, log: Path | None, board: str | None
) -> Beside:
    """What else is known of the capture of a scenario."""
    from capture.acquisition import imported as other_tools
    from capture.acquisition.account import outside_of
    from cli.work.plan import compiled
    from firmware.build import boards, outside

    names = outside.admit(allocator)
    if len(names) != 1:
        raise OptionError(f"--allocator {','.join(allocator)[:80]}: give one, the one that was captured.")
    on = boards.default() if board is None else boards.named(board)
    planned = compiled(name, options, on).recorded_by(options.records)
    word = None if board is None else on.word
    return other_tools.of_plan(planned, names[0], log, outside_of(names[0]), word)


def pulses(imported: Import) -> dict[str, Any]:
    """What the wire alone shows, as docs/reference/decode.md has it: widths, intervals between
    begins and latencies, all in ns.
    """
    from capture.acquisition.imported import report
    from capture.reading.observed import read_observed

    wire = read_observed(imported.edges, framed=False)
    figures = {
        "widths_ns": wire.widths_ns,
        "intervals_ns": wire.intervals_ns,
        "latencies_ns": wire.latencies_ns,
    }
    return {
        "verdict": "inconclusive",
        "reasons": [*imported.losses, *report(imported).oddities, NO_PLAN],
        "imported": imported.origin.model_dump(mode="json"),
        "samplerate_hz": imported.edges.samplerate_hz,
        "total_samples": imported.edges.total_samples,
        **{
            key: {name: summary.model_dump(mode="json") for name, summary in part.items()}
            for key, part in figures.items()
        },
    }


def as_text(imported: Import) -> str:
    """A line for each of the summaries, and what is to be said of them."""
    from capture.reading.observed import read_observed
    from cli.work import wire_table

    edges, origin = imported.edges, imported.origin
    wire = read_observed(edges, framed=False)
    named = ", ".join(f"{ours} is {theirs}" for ours, theirs in origin.channels.items())
    duration_s = edges.total_samples / edges.samplerate_hz
    return "\n".join(
        [
            f"{origin.file} ({origin.format}): {edges.total_samples:,} samples at {edges.samplerate_hz:,} Hz "
            f"({_RATE_FROM[origin.samplerate_from]}), {duration_s:.6g} s; {named}.",
            "",
            *wire_table.lines(wire.widths_ns, wire.intervals_ns, wire.latencies_ns),
            "",
            " ".join(["inconclusive:", *pulses(imported)["reasons"]]),
        ]
    )
