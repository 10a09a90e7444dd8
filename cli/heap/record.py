"""`./lab heap record`: what a program, or a board's firmware, asks of its heap."""

from __future__ import annotations

from pathlib import Path

import click

from base.paths import BUILD
from cli.shell.declare import argument, declare, option
from cli.shell.values import FILE, SECONDS, WHOLE


@declare(section="Your own program and allocator")
@argument(
    "command",
    metavar="[-- COMMAND…]",
    nargs=-1,
    type=click.UNPROCESSED,
    help="the program and its words, behind --",
)
@option(
    "--output",
    type=FILE,
    default=BUILD / "trace.csv",
    show_default="build/trace.csv",
    help="the trace to write",
)
@option("--every", is_flag=True, help="write the other processes' traces too, beside it and numbered")
@option(
    "--most",
    type=WHOLE,
    help="how many operations to keep of each process; a reallocation counts twice",
)
@option("--log", type=FILE, help="instead of a command: what a board said, in a file (docs/how-to/traces.md)")
@option("--serial", metavar="PORT", help="instead of a command: the port on which a board says it")
@option("--baud", type=WHOLE, default=115_200, help="of the port")
@option("--seconds", type=SECONDS, help="how long to listen to the port; until Ctrl-C when not given")
def command(
    command: tuple[str, ...],
    output: Path,
    every: bool,
    most: int | None,
    log: Path | None,
    serial: str | None,
    baud: int,
    seconds: float | None,
) -> int:
    """Record what a program asks of its heap, or a board's firmware.

    For example: ./lab heap record -- ls -l
    """
    from cli.work import record

    return record.run(
        command,
        output=output,
        every=every,
        most=most,
        log=log,
        serial=serial,
        baud=baud,
        seconds=seconds,
    )
