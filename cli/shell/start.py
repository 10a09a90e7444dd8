"""How a command starts and ends: its exit status, and one sentence for whatever stops it.

The statuses are 0 as asked, 1 worse or not complete, 2 misused or cannot say, 128 + n after a
signal. A command may declare another for what it refuses. A command that runs another program
passes on the status of that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import get_completion_class

from base.files import scratch
from base.files.errors import CANNOT_SAY as CANNOT_SAY
from base.files.errors import TailscopeError
from base.processes import signals
from cli.shell import extras, limits, refusals, streams
from cli.shell.folder import CommandFolder

PROGRAM = "./lab"
_COMPLETE = "_TAILSCOPE_COMPLETE"  # what a shell's script sets when it asks for candidates


def lab() -> CommandFolder:
    """The command that all others stand under."""
    from cli.shell.root import root

    return root()


def main(words: Sequence[str]) -> int:
    """Runs the command of these words; returns its exit status. Whenever a signal comes, it gets
    its sentence.
    """
    streams.take_over()
    try:
        with scratch.own():
            status = _status(words)
        sys.stdout.flush()
    except streams.OutputError as lost:
        if lost.exit_status == 1:
            print(lost, file=sys.stderr)
        return lost.exit_status
    return status


def _status(words: Sequence[str]) -> int:
    try:
        try:
            signals.listen()
            return run(words)
        finally:
            signals.leave()
    except signals.Stopped as stopped:
        print(stopped, file=sys.stderr)
        return stopped.exit_status
    except click.ClickException as error:
        print(refusals.sentence(error), file=sys.stderr)
        return CANNOT_SAY
    except TailscopeError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    except ModuleNotFoundError as missing:
        said = extras.sentence(missing)
        if said is None:
            raise
        print(said, file=sys.stderr)
        return CANNOT_SAY
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # polars panics by one that is no Exception
        said = limits.sentence(error)
        if said is None:
            raise
        print(said, file=sys.stderr)
        return CANNOT_SAY


def run(words: Sequence[str]) -> int:
    """Runs the command of these words, and returns what it returns: its exit status; None is 0.

    Raises ClickException, TailscopeError, signals.Stopped.
    """
    return lab().main([*words], PROGRAM, complete_var=_COMPLETE, standalone_mode=False) or 0


def completion(shell: str, program: str) -> str:
    """The script of Click that has `shell` (bash, zsh or fish) complete the words of `program`."""
    shell_complete = get_completion_class(shell)
    assert shell_complete is not None
    return shell_complete(lab(), {}, program, _COMPLETE).source()


def leave(status: int) -> None:
    """Ends the process at once: what Python does at its end takes long
    enough for another signal.
    """
    sys.stderr.flush()
    os._exit(status)
