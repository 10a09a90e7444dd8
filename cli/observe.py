"""`./lab observe`: any program on any board, from the wire alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from cli.shell import shared
from cli.shell.declare import declare, json_option, option
from cli.shell.values import FILE, SECONDS, Choice, Pairs, Worst

if TYPE_CHECKING:
    from cli.work.observe import ObserveOptions

EXAMPLE = "CRIT=PA8,STIM=PA0,ISR=PA10"
EDGES = ("both", "rising", "falling")


@declare(section="Your own firmware, as it is")
@option(
    "--pins",
    type=Pairs(EXAMPLE),
    default={},
    show_default=False,
    help=f"which pin each channel is on: {EXAMPLE} (docs/how-to/observe.md)",
)
@option(
    "--elf",
    type=FILE,
    help="the program to load, built for the board; what is on a real board runs when not given",
)
@shared.board
@option(
    "--duration",
    "--until",
    "duration_s",
    type=SECONDS,
    default="1s",
    help="how long to capture: 2s, 500ms; of a program that is loaded, from its reset",
)
@shared.samplerate
@option(
    "--edges",
    type=Choice(*EDGES),
    default="both",
    help="which edges of STIM and CTRL are stimuli: both, rising or falling",
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
@json_option
def command(as_json: bool, **options: Unpack[ObserveOptions]) -> int:
    """Observe any program from the wire alone.

    For example: ./lab observe --pins CRIT=PA8,STIM=PA0,ISR=PA10 --elf my.elf
    """
    from cli.work import observe

    return int(not observe.show(json=as_json, **options))
