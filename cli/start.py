"""How a command starts and ends: its exit status, and one sentence for whatever stops it."""

from __future__ import annotations

import os
import sys

from base.files.errors import TailscopeError
from base.processes import signals
from cli import help as help_pages
from cli import refusals, streams


def main() -> int:
    """Runs the command; returns its exit status. Whenever a signal comes, it gets its sentence."""
    streams.take_over()
    try:
        status = _status()
        sys.stdout.flush()
    except streams.OutputError as lost:
        if lost.exit_status == 1:
            print(lost, file=sys.stderr)
        return lost.exit_status
    return status


def _status() -> int:
    try:
        try:
            signals.listen()
            _run()
        finally:
            signals.leave()
    except signals.Stopped as stopped:
        print(stopped, file=sys.stderr)
        return stopped.exit_status
    except TailscopeError as error:
        print(error, file=sys.stderr)
        return error.exit_status if isinstance(error, refusals.UsageError) else 1
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _run() -> None:
    words = sys.argv[1:]
    if (page := help_pages.answer(words)) is not None:
        print(page)
        return
    refusals.check(words[: words.index("--")] if "--" in words else words)
    from cli.command_line import program  # takes a while, and a signal may come before

    program.run()


def leave(status: int) -> None:
    """Ends the process at once: what Python does at its end takes long
    enough for another signal.
    """
    sys.stderr.flush()
    os._exit(status)
