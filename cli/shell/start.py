"""How a command starts and ends: its exit status, one sentence for whatever stops it, its streams.

The statuses are 0 as asked, 1 worse or not complete, 2 misused or cannot say, 128 + n after a
signal. A command may declare another for what it refuses. A command that runs another program
passes on the status of that.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any, NoReturn, TextIO

import click
from click.shell_completion import get_completion_class

import cli
from base.files.errors import CANNOT_SAY, TailscopeError
from base.files.printable import printable_lines
from base.files.whole import why
from base.processes import signals
from cli.shell.declare import group

PROGRAM = "./lab"
_COMPLETE = "_TAILSCOPE_COMPLETE"  # what a shell's script sets when it asks for candidates
_HELP = "Tailscope measures worst-case latency: how long an allocator keeps interrupts waiting."
_EPILOG = """\
./lab COMMAND --help says what one of them takes.

Tab completes commands, options and names: eval "$(./lab completion bash)".
"""


@cache
def lab() -> click.Group:
    """The command that all others stand under."""
    root = group(cli.__name__, help=_HELP, epilog=_EPILOG)
    root.params.append(
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            hidden=True,
            callback=_version,
        )
    )
    return root


def _version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from cli.shell.project import version

        click.echo(version())
        ctx.exit()


def main(words: Sequence[str]) -> int:
    """Runs the command of these words; returns its exit status. Whenever a signal comes, it gets
    its sentence.
    """
    take_over()
    try:
        status = _status(words)
        sys.stdout.flush()
    except OutputError as lost:
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
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # polars panics by one that is no Exception
        said = sentence(error)
        if said is None:
            raise
        print(said, file=sys.stderr)
        return int(getattr(error, "exit_status", CANNOT_SAY))


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


_EXTRAS = {
    "flask": "app",
    "werkzeug": "app",
    "pyocd": "board",
    "yaml": "board",
    "plotly": "report",
    "scipy": "report",
    "dask": "campaign",
    "distributed": "campaign",
    "saleae": "saleae",
    "grpc": "saleae",
}
"""By the module that a command imports, the extra of pyproject.toml that has its package."""


def need(*modules: str) -> None:
    """Raises ModuleNotFoundError for the first that is not there, before anything is measured."""
    for module in modules:
        if find_spec(module) is None:
            raise ModuleNotFoundError(name=module)


def sentence(error: BaseException) -> str | None:
    """What stopped a command and what to do, in a sentence; None where it is a mistake of ours."""
    if isinstance(error, TailscopeError | signals.Stopped):
        return str(error)
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else PROGRAM
        hint = "" if type(error) is click.BadParameter else f" {path} --help says what it takes."
        return f"{error.format_message()}{hint}"
    if isinstance(error, ModuleNotFoundError):
        module = (error.name or "").partition(".")[0]
        if module not in _EXTRAS:
            return None
        remedy = f"pip install 'tailscope[{_EXTRAS[module]}]'"
        return f"This needs the Python package {module}, which is not installed: {remedy}."
    # What was used up because this machine, or its user's limits, give no more.
    said = "".join(traceback.format_exception_only(error)).strip()
    number = error.errno if isinstance(error, OSError) else None
    if (
        isinstance(error, MemoryError)
        or number in _ERRORS_OF_LIMITS
        or any(word in said for word in _NO_MORE)
    ):
        return f"This machine, or its limits (ulimit -a), give no more files, memory or threads: {said}."
    return None


# What Python and polars say where no thread can be made, or no memory is had.
_NO_MORE = (
    "can't start new thread",
    "could not spawn threads",
    "ThreadPoolBuildError",
    "memory allocation of",
)
_ERRORS_OF_LIMITS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


# Standard input, output and error, whatever the shell made of them.


_PIPE_GONE_STATUS = 128 + 13
"""What a shell tells of a command that SIGPIPE ended: nobody reads on, as behind `head -1`."""


class OutputError(Exception):
    """Standard output cannot be written."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(f"The output cannot be written: {why(cause)}.")
        self.exit_status = _PIPE_GONE_STATUS if cause.errno == errno.EPIPE else 1


def take_over() -> None:
    """From now on a print that fails raises OutputError, and words on stderr that fail are lost.

    A stream that is closed would else lend its number to the next file that is opened, and a
    child's words would end in it. It is led nowhere.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the least number that is free
            os.set_inheritable(number, True)
    sys.stdout = _stream(sys.stdout, 1, _complain)
    sys.stderr = _stream(sys.stderr, 2, lambda _: None)


def _complain(error: OSError) -> NoReturn:
    raise OutputError(error) from None


class _Guarded(io.FileIO):
    """A descriptor whose failed writes are told to `failed`, and then count as written."""

    def __init__(self, number: int, failed: Callable[[OSError], None]) -> None:
        super().__init__(number, "wb", closefd=False)
        self._failed = failed

    def write(self, data: Any, /) -> int:
        """All of `data`, or what the system took of it."""
        try:
            return super().write(data) or 0
        except OSError as error:
            self._failed(error)
            return len(data)


_OF_RICH = re.compile("(\x1b\\[[?0-9;]*[A-Za-z]|\r)")
"""What Rich has a terminal do: colours, and lines that are written anew."""


class _Shown(io.TextIOWrapper):
    """A stream of which nothing is hidden: whatever a name holds, a terminal is shown its letters.

    Colours reach a terminal, and nothing else does.
    """

    def write(self, text: str, /) -> int:
        """All of `text`, control characters as Python writes them."""
        if self.isatty():
            parts = _OF_RICH.split(text)
            parts[::2] = map(printable_lines, parts[::2])
            super().write("".join(parts))
        else:
            super().write(printable_lines(text))
        return len(text)


def _stream(before: TextIO | None, number: int, failed: Callable[[OSError], None]) -> TextIO:
    """What writes to `number` from now on, in the encoding of `before`;
    line by line on a terminal.
    """
    if before is not None:
        with suppress(OSError):
            before.flush()
    guarded = _Guarded(number, failed)
    return _Shown(
        io.BufferedWriter(guarded),
        encoding=before.encoding if before is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=number == 2 or guarded.isatty(),
    )
