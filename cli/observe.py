"""`./lab observe`: any wire, of a live analyzer or of a file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from base.paths import RUNS
from cli.shell import shared, under_way
from cli.shell.declare import argument, declare, json_option, option, packed
from cli.shell.values import (
    ALLOCATORS,
    FILE,
    PAIRS,
    RUN,
    SAMPLERATE,
    SCENARIO,
    SECONDS,
    WORST,
    OptionError,
    choice,
)

if TYPE_CHECKING:
    from base.board_options import BoardOptions
    from base.run_folder.observed import AskedEdges, Keep
    from capture.acquisition.imported import Beside
    from capture.conduct import RunResult
    from capture.reading.observed import Questions


@dataclass(frozen=True, kw_only=True)
class Observing(shared.RunOptions):
    """The options of the command but --json, and those of a program on a virtual board. Of a file
    those of a run say what ran.
    """

    file: Path | None
    channels: dict[str, str]
    pulse: tuple[str, ...]
    low: tuple[str, ...]
    latency: tuple[str, ...]
    edges: AskedEdges
    elf: Path | None
    board: str | None
    duration_s: float
    keep: int | None
    around_s: float
    live: bool
    run: Path | None
    uart: Path | None
    scenario: str | None
    allocator: list[str] | None


OF_A_FILE = ("run", "uart", "scenario", "allocator", "stimulus", "seed", "parameters", "ignore_glitches")


@declare("Your own firmware, as it is")
@argument(
    "file",
    FILE,
    "a capture of another tool: .sr, VCD, FST, GHW, CSV of sigrok, DSView or Saleae, the folder of a "
    "binary export of Logic 2; the board's analyzer when not given",
    required=False,
)
@option(
    "--channels",
    PAIRS,
    "which pin, or channel of the file, is which: CRIT=PA8,STIM=PA0,ISR=PA10, IRQ=tb.irq "
    "(docs/how-to/observe.md)",
    default={},
    show_default=False,
)
@option("--pulse", "the high pulses of this channel; may be repeated", metavar="NAME", multiple=True)
@option("--low", "its low pulses, as --pulse '!NAME'; may be repeated", metavar="NAME", multiple=True)
@option(
    "--latency",
    "from a stimulus to the rise of its answer, or its fall: 'TRIG:!nACK'; may be repeated",
    metavar="TRIG:ACK",
    multiple=True,
)
@option(
    "--edges",
    choice("auto", "both", "rising", "falling"),
    "which edges of a stimulus count: both, rising or falling; auto: those that are seen to be answered",
    default="auto",
)
@option(
    "--samplerate",
    "samplerate_hz",
    SAMPLERATE,
    "samples per second, e.g. 24000000 or 24m; bench.toml's, or the file's, when not given",
)
@option(
    "--elf", FILE, "the program to load, built for the board; what is on a real board runs when not given"
)
@option(
    "--board",
    "a board of `./lab list`, or the path of its TOML; or virtual:NAME; with --scenario the board "
    "that was captured, such as nucleo-f446re",
    metavar="BOARD",
)
@option(
    "--duration",
    "--until",
    "duration_s",
    SECONDS,
    "how long to capture: 2s, 500ms; of a program that is loaded, from its reset",
    default="1s",
)
@option(
    "--keep",
    WORST,
    "keep only windows around the longest pulses and latencies, 10 or as many as worst=N says, of a "
    "capture that may last hours",
)
@option("--around", "around_s", SECONDS, "with --keep: so much before and after", default="2ms")
@option("--live", "draw the last edges and the tail while the capture goes on")
@shared.own_program
@option("--run", RUN, "of a file: the run folder of the run that it was taken of; judges it as a run")
@option("--uart", FILE, "the records of that run, where they are not those in the run folder")
@option(
    "--scenario",
    SCENARIO,
    "of a file without a run folder: what ran, of `./lab list` or the path of a scenario's TOML",
)
@option("--allocator", ALLOCATORS, "with --scenario: on which allocator")
@shared.stimulus
@shared.seed
@shared.parameter
@shared.records
@shared.ignore_glitches
@json_option
@packed(Observing, "options")
def command(as_json: bool, options: Observing, **program: Unpack[BoardOptions]) -> int:
    """Measure a wire: pulses, periods and latencies, live or of a file.

    For example: ./lab observe --channels CRIT=PA8,STIM=PA0,ISR=PA10 --elf my.elf
    """
    _check(options, program)
    keep = None
    if options.keep:
        from base.run_folder.observed import Keep

        keep = Keep(worst=options.keep, around_s=options.around_s)
    if options.file:
        result = _file(options.file, as_json, keep, options)
    else:
        result = _pins(as_json, keep, options, program)
    return int(result.verdict != "complete")


def _typed(values: Mapping[str, object]) -> str:
    """The options that are given among these, as one types them."""
    params = click.get_current_context().command.params
    return ", ".join(param.opts[0] for param in params if values.get(param.name or ""))


def _check(options: Observing, program: BoardOptions) -> None:
    """Raises OptionError for options that do not go together."""
    live = {"elf": options.elf, "live": options.live, **program}
    of_a_file = {name: value for name, value in vars(options).items() if name in OF_A_FILE}
    if wrong := _typed(live if options.file else of_a_file):
        of = "only of a live capture, not of a file" if options.file else "only of a file"
        raise OptionError(f"{wrong}: {of}.")
    for pair in options.latency:
        stimulus, colon, answer = pair.partition(":")
        if not (stimulus and colon and answer) or stimulus == answer:
            raise OptionError(f"--latency {pair[:80]}: give TRIG:ACK, a stimulus and its answer.")
    ran = (options.scenario, options.allocator)
    more = (options.uart, options.file and options.board, options.ignore_glitches)
    says_what_ran = not any(ran) if options.run else all(ran)
    if any((options.run, *ran, *more)) and (options.keep or not says_what_ran):
        raise OptionError(
            "To judge a file as a run, say what ran: either --run, or --scenario and --allocator together, "
            "with --board and --uart where they are known. --keep is for the wire alone."
        )


def _questions(options: Observing) -> Questions:
    """What is asked of the wire."""
    from base.run_folder.edges import NOT
    from capture.reading.observed import Questions

    pulses = [*options.pulse, *(f"{NOT}{name}" for name in options.low)]
    return Questions(pulses, options.latency) if pulses or options.latency else Questions()


def _pins(as_json: bool, keep: Keep | None, options: Observing, program: BoardOptions) -> RunResult:
    """Observes pins of a board. Raises TailscopeError.

    On an emulated board the command runs again on its desk, and SystemExit carries its status.
    """
    from base.files.errors import CaptureError
    from capture.acquisition.sigrok import Pins, PinsRequest
    from capture.conduct import run as conduct
    from capture.desk import pins
    from capture.desk.bench import read_bench
    from capture.reading.counter import Growing
    from cli._wire import live, show
    from simulator.program import user_program

    results: list[RunResult] = []
    with under_way.stoppable("nothing was recorded", results):
        resource = read_bench().board(options.board)
        checked = pins.check_pins(options.channels, resource)
        wanted = _questions(options)
        if unknown := [name for name in wanted.channels if name not in checked]:
            raise CaptureError(f"{', '.join(unknown)}: no pin is named for it; add it to --channels.")
        request = PinsRequest(
            resource,
            pins=checked,
            elf=options.elf,
            duration_s=options.duration_s,
            samplerate_hz=options.samplerate_hz or resource.analyzer.samplerate_hz,
            stimulus_edges=options.edges,
            questions=wanted,
            runs=RUNS,
            progress=under_way.tell_step,
            keep=keep,
        )
        Pins(request).check()
        words: tuple[str, ...] = ()
        if resource.loader.kind == "virtual-nucleo" or resource.emulated is not None:
            if options.elf is not None:
                program["chip"] = program["chip"] or "".join(resource.board.virtual_options[1:])
                words = user_program(options.elf, **program).options
        elif given := _typed(program):
            raise CaptureError(
                f"{given}: only a virtual board can be told so, and {resource.name!r} is a real one."
            )
        under_way.on_desk(options.board, clips=pins.clips(checked, resource), options=words)
        which = "both" if options.edges == "auto" else options.edges
        growing = Growing(which, resource.board.core_hz, wanted)
        with live(growing) if options.live else nullcontext() as wire:
            results.append(conduct(Pins(replace(request, options=words, wire=wire))))
        show(results[0].folder, as_json)
    return results[0]


def _file(file: Path, as_json: bool, keep: Keep | None, options: Observing) -> RunResult:
    """Reads and judges `file`, by itself or as a run, and prints what came of it."""
    from capture.acquisition import imported as other_tools
    from capture.acquisition.live import Request
    from capture.conduct import run as conduct
    from capture.importing import formats
    from capture.reading.observed import Questions
    from cli._wire import show

    wanted = _questions(options)
    names = options.channels or {name: name for name in wanted.channels}
    imported = formats.read(file, names or None, options.samplerate_hz)
    request = Request(runs=RUNS)
    if options.run:
        beside = other_tools.of_run(options.run, options.uart)
    elif options.scenario:
        beside = _of_scenario(options.scenario, options)
    else:
        if not names:
            wanted = Questions.moving(imported.edges)
        result = conduct(other_tools.ObservedFile(imported, wanted, options.edges, request, keep))
        show(result.folder, as_json)
        return result
    result = conduct(other_tools.Imported(imported, beside, request, options.ignore_glitches))
    if as_json:
        print((result.folder / "run.json").read_text(encoding="utf-8"))
    else:
        print(f"{result.verdict}: {' '.join(result.reasons)}" if result.reasons else result.verdict)
        print(result.folder)
    return result


def _of_scenario(name: str, options: Observing) -> Beside:
    """What else is known of the capture of a scenario."""
    from capture.acquisition.imported import of_plan
    from capture.acquisition.source import outside_of
    from cli.shell.runs import compiled
    from firmware.build import boards, outside

    names = outside.admit(options.allocator or ())
    if len(names) != 1:
        raise OptionError(
            f"--allocator {','.join(options.allocator or ())[:80]}: give one, the one that was captured."
        )
    on = boards.default() if options.board is None else boards.named(options.board)
    planned = compiled(name, options, on).recorded_by(options.records)
    word = None if options.board is None else on.word
    return of_plan(planned, names[0], options.uart, outside_of(names[0]), word)
