"""`./lab heap record`: what a program, or a board's firmware, asks of its heap."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import click

from base.files.whole import write_bytes
from base.paths import BUILD
from cli.shell.declare import argument, declare, option
from cli.shell.values import FILE, OUTPUT, SECONDS, WHOLE, OptionError


@declare("Your own program and allocator")
@argument(
    "command", click.UNPROCESSED, "the program and its words, behind --", metavar="[-- COMMAND…]", nargs=-1
)
@option("--output", OUTPUT, "the trace to write", default=BUILD / "trace.csv", show_default="build/trace.csv")
@option("--log", FILE, "instead of a command: what a board said, or a log of mtrace or heaptrack")
@option("--serial", "instead of a command: the port on which a board says it", metavar="PORT")
@option("--baud", WHOLE, "of the port", default=115_200)
@option("--seconds", SECONDS, "how long to listen to the port; until Ctrl-C when not given")
def command(
    command: tuple[str, ...],
    output: Path,
    log: Path | None,
    serial: str | None,
    baud: int,
    seconds: float | None,
) -> int:
    """Record what a program asks of its heap, or a board's firmware.

    For example: ./lab heap record -- ls -l
    """
    from scenarios.recording import logs

    if bool(command) + bool(log) + bool(serial) != 1:
        raise OptionError(
            "Name one thing to record: a command behind --, as in `./lab heap record -- ls -l`, "
            "--log FILE, or --serial PORT."
        )
    if command:
        from scenarios.recording.record import record, sentences

        recorded = record(command, output)
        print(*sentences(recorded), sep="\n", file=sys.stderr)
        return recorded.exit_status
    name = log or output.with_suffix(".log")
    heard = logs.read(log) if log else logs.listen(str(serial), baud, seconds or math.inf)
    if serial:
        write_bytes(name, heard)
    trace = logs.convert(heard)
    lines = [f"# What a program asked of its heap, by {name.name!r}", *trace.lines]
    write_bytes(output, "".join(f"{line}\n" for line in lines).encode())
    summary = [f"{output}: {len(trace.lines):,} operations, by {name}.", *logs.sentences(trace)]
    print(*summary, sep="\n", file=sys.stderr)
    return int(bool(trace.defects))
