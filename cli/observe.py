"""`./lab observe`: any wire, of a live analyzer or of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from cli.shell import shared
from cli.shell.declare import argument, declare, json_option, option
from cli.shell.values import (
    FILE,
    RUN,
    SAMPLERATE,
    SCENARIO,
    SECONDS,
    Allocators,
    Choice,
    OptionError,
    Pairs,
    Worst,
)

if TYPE_CHECKING:
    from cli.work.observe import ObserveOptions

EXAMPLE = "CRIT=PA8,STIM=PA0,ISR=PA10"
EDGES = ("auto", "both", "rising", "falling")
OF_A_FILE = ("run", "uart", "scenario", "allocator", "stimulus", "seed", "parameter", "ignore_glitches")
LIVE = ("elf", "live", "attach", "any_core", "semihosting", "gaps", "strict", "hse", "chip")


@declare(section="Your own firmware, as it is")
@argument(
    "file",
    type=FILE,
    required=False,
    help="a capture of another tool: .sr, VCD, FST, GHW, CSV of sigrok, DSView or Saleae, the folder of a "
    "binary export of Logic 2; the board's analyzer when not given",
)
@option(
    "--channels",
    type=Pairs(EXAMPLE),
    default={},
    show_default=False,
    help=f"which pin, or channel of the file, is which: {EXAMPLE}, IRQ=tb.irq (docs/how-to/observe.md)",
)
@option("--pulse", metavar="NAME", multiple=True, help="the high pulses of this channel; may be repeated")
@option("--low", metavar="NAME", multiple=True, help="its low pulses, as --pulse '!NAME'; may be repeated")
@option(
    "--latency",
    metavar="TRIG:ACK",
    multiple=True,
    help="from a stimulus to the rise of its answer, or its fall: 'TRIG:!nACK'; may be repeated",
)
@option(
    "--edges",
    type=Choice(*EDGES),
    default="auto",
    help="which edges of a stimulus count: both, rising or falling; auto: those that are seen to be answered",
)
@option(
    "--samplerate",
    "samplerate_hz",
    type=SAMPLERATE,
    help="samples per second, e.g. 24000000 or 24m; bench.toml's, or the file's, when not given",
)
@option(
    "--elf",
    type=FILE,
    help="the program to load, built for the board; what is on a real board runs when not given",
)
@option(
    "--board",
    metavar="BOARD",
    help="a board of `./lab list`, or the path of its TOML; or virtual:NAME; with --scenario the board "
    "that was captured, such as nucleo-f446re",
)
@option(
    "--duration",
    "--until",
    "duration_s",
    type=SECONDS,
    default="1s",
    help="how long to capture: 2s, 500ms; of a program that is loaded, from its reset",
)
@option(
    "--keep",
    type=Worst(),
    help="keep only windows around the longest pulses and latencies, 10 or as many as worst=N says, of a "
    "capture that may last hours",
)
@option("--around", "around_s", type=SECONDS, default="2ms", help="with --keep: so much before and after")
@option("--live", is_flag=True, help="draw the last edges and the tail while the capture goes on")
@shared.own_program
@option(
    "--run", type=RUN, help="of a file: the run folder of the run that it was taken of; judges it as a run"
)
@option("--uart", type=FILE, help="the records of that run, where they are not those in the run folder")
@option(
    "--scenario",
    type=SCENARIO,
    help="of a file without a run folder: what ran, of `./lab list` or the path of a scenario's TOML",
)
@option("--allocator", type=Allocators(all_too=False), help="with --scenario: on which allocator")
@shared.stimulus
@shared.seed
@shared.parameter
@shared.records
@shared.ignore_glitches
@json_option
def command(as_json: bool, **options: Unpack[ObserveOptions]) -> int:
    """Measure a wire: pulses, periods and latencies, live or of a file.

    For example: ./lab observe --channels CRIT=PA8,STIM=PA0,ISR=PA10 --elf my.elf
    """
    file = options["file"]
    wrong = [name for name, value in options.items() if name in (LIVE if file else OF_A_FILE) and value]
    if wrong:
        words = ", ".join(f"--{name.replace('_', '-')}" for name in wrong)
        raise OptionError(
            f"{words}: {'only of a live capture, not of a file' if file else 'only of a file'}."
        )
    for pair in options["latency"]:
        if not all(pair.partition(":")):
            raise OptionError(f"--latency {pair[:80]}: give TRIG:ACK, a stimulus and its answer.")
    if file:
        from cli.work import observe_file

        return observe_file.show(file, as_json, options)
    from cli.work import observe

    return observe.show(as_json, options)
