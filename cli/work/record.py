"""`./lab heap record`: reads the options, and says on standard error what was recorded."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from base.files.whole import write_bytes
from cli.shell.values import OptionError
from scenarios.errors import ScenarioError
from scenarios.generators.recorded import told_of_the_board, told_of_this_machine
from scenarios.recording import board_log
from scenarios.recording.board_log import listen
from scenarios.recording.process_file import MOST_OPERATIONS
from scenarios.recording.record import record, sentences


def run(
    command: Sequence[str],
    *,
    output: Path,
    every: bool = False,
    most: int | None = None,
    log: Path | None = None,
    serial: str | None = None,
    baud: int = 115_200,
    seconds: float | None = None,
) -> int:
    """Records a command, or what a board said; returns the exit status.

    That is the command's own; of a board's log 1 if it has a defect. Raises TailscopeError.
    """
    if bool(command) + bool(log) + bool(serial) != 1:
        raise OptionError(
            "Name one thing to record: a command behind --, as in `./lab heap record -- ls -l`, "
            "--log FILE, or --serial PORT."
        )
    if command:
        return _command(command, output, every, most or MOST_OPERATIONS)
    if log:
        return _log(board_log.read(log), output, str(log))
    said = listen(str(serial), baud, seconds or math.inf)
    kept = write_bytes(output.with_suffix(".log"), said)
    return _log(said, output, str(kept))


def _command(command: Sequence[str], output: Path, every: bool, most: int) -> int:
    if most > MOST_OPERATIONS:
        raise OptionError(f"--most {most}: a trace has {MOST_OPERATIONS:,} operations at most.")
    found = record(command, output, every=every, most=most)
    _tell(sentences(found))
    _tell(_what_fits(found.written[0].path))
    return found.exit_status


def _log(said: bytes, output: Path, name: str) -> int:
    found = board_log.convert(said)
    lines = [f"# What a board asked of its heap, by {Path(name).name!r}", *found.lines]
    write_bytes(output, "".join(f"{line}\n" for line in lines).encode())
    _tell([f"{output}: {len(found.lines):,} operations, by {name}.", *board_log.sentences(found)])
    return int(bool(found.defects))


def _what_fits(trace: Path) -> Iterator[str]:
    """Where the trace can be replayed, and how: told at once, not when that is tried."""
    try:
        yield told_of_the_board(trace)
        yield told_of_this_machine(trace)
    except ScenarioError as refused:
        yield str(refused)


def _tell(said: Iterable[str]) -> None:
    for sentence in said:
        print(sentence, file=sys.stderr)
