"""How a command starts and ends: its exit status, and one sentence for whatever stops it.

The statuses are 0 as asked, 1 worse or not complete, 2 misused or cannot say, 128 + n after a
signal. A command may declare another for what it refuses. A command that runs another program
passes on the status of that.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

import click
from click.shell_completion import get_completion_class

import cli
from base.files.errors import CANNOT_SAY, TailscopeError
from base.processes import signals
from cli.shell import streams
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
    names = ["-V", "--version"]
    root.params.append(
        click.Option(names, is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_version)
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
    streams.take_over()
    try:
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
    **dict.fromkeys(("flask", "werkzeug"), "app"),
    "pyocd": "board",
    **dict.fromkeys(("plotly", "scipy"), "report"),
    **dict.fromkeys(("dask", "distributed"), "campaign"),
    **dict.fromkeys(("saleae", "grpc"), "saleae"),
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
        remedy = f"pip install 'tailscope[{_EXTRAS.get(module)}]'"
        return (
            f"This needs the Python package {module}, which is not installed: {remedy}."
            if module in _EXTRAS
            else None
        )
    return _of_limits(error)


# What Python and polars say where no thread can be made, or no memory is had.
_NO_MORE = (
    "can't start new thread",
    "could not spawn threads",
    "ThreadPoolBuildError",
    "memory allocation of",
)
_ERRORS_OF_LIMITS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


def _of_limits(error: BaseException) -> str | None:
    """What was used up because this machine, or its user's limits, give no more."""
    said = "".join(traceback.format_exception_only(error)).strip()
    number = error.errno if isinstance(error, OSError) else None
    if (
        isinstance(error, MemoryError)
        or number in _ERRORS_OF_LIMITS
        or any(word in said for word in _NO_MORE)
    ):
        return f"This machine, or its limits (ulimit -a), give no more files, memory or threads: {said}."
    return None
