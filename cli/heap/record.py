"""`./lab heap record`: what a program, or a board's firmware, asks of its heap."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from base.files.whole import write_bytes
from base.paths import BUILD
from cli.shell.declare import argument, declare, option
from cli.shell.values import FILE, OUTPUT, SECONDS, WHOLE, OptionError


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
    type=OUTPUT,
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
@option("--log", type=FILE, help="instead of a command: what a board said, or a log of mtrace or heaptrack")
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
    from scenarios.recording import logs

    if bool(command) + bool(log) + bool(serial) != 1:
        raise OptionError(
            "Name one thing to record: a command behind --, as in `./lab heap record -- ls -l`, "
            "--log FILE, or --serial PORT."
        )
    if command:
        return _record(command, output, every, most)
    if log:
        return _convert(logs.read(log), output, str(log))
    heard = logs.listen(str(serial), baud, seconds or math.inf)
    return _convert(heard, output, str(write_bytes(output.with_suffix(".log"), heard)))


def _record(command: Sequence[str], output: Path, every: bool, most: int | None) -> int:
    """Records a command, and returns its exit status."""
    from scenarios.recording import recorder
    from scenarios.recording.record import record, sentences
    from scenarios.trace import MOST_OPERATIONS

    most = most or MOST_OPERATIONS
    if most > MOST_OPERATIONS:
        raise OptionError(f"--most {most}: a trace has {MOST_OPERATIONS:,} operations at most.")
    for advice in recorder.advice(command[0]):
        print(advice, file=sys.stderr)
    recorded = record(command, output, every=every, most=most)
    print(*sentences(recorded), *_what_fits(recorded.written[0].path), sep="\n", file=sys.stderr)
    return recorded.exit_status


def _convert(heard: bytes, output: Path, name: str) -> int:
    """Writes what a board said as a trace; returns 1 if it has a defect."""
    from scenarios.recording import logs

    of_program = logs.convert_of_program(heard)
    trace = of_program or logs.convert(heard)
    subject = "program" if of_program else "board"
    lines = [f"# What a {subject} asked of its heap, by {Path(name).name!r}", *trace.lines]
    write_bytes(output, "".join(f"{line}\n" for line in lines).encode())
    print(
        f"{output}: {len(trace.lines):,} operations, by {name}.",
        *logs.sentences(trace),
        sep="\n",
        file=sys.stderr,
    )
    return int(bool(trace.defects))


def _what_fits(trace: Path) -> Iterator[str]:
    """Where the trace can be replayed, and how: told at once, not when that is tried."""
    from scenarios.errors import ScenarioError
    from scenarios.generators.recorded import told_of_the_board, told_of_this_machine

    try:
        yield told_of_the_board(trace)
        yield told_of_this_machine(trace)
    except ScenarioError as refused:
        yield str(refused)
