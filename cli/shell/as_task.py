"""A command as a task of invoke: its options are those that the command declares."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any

import click
from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import Task, task

from base.processes.signals import HEARD
from cli.shell import start


def of(*words: str) -> Callable[[Callable[..., None]], Task[Any]]:
    """Makes a function the task of the command of these words, with the command's options.

    Words that must be given stand in front, as the command has them. A word that may be left out
    or repeated is an option of the task, since invoke knows no such words.
    """
    shown = [
        one for one in _command(words).params if not getattr(one, "hidden", False) and one.name != "help"
    ]

    def made(function: Callable[..., None]) -> Task[Any]:
        parameters = [Parameter("context", Parameter.POSITIONAL_OR_KEYWORD), *map(_parameter, shown)]
        function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return task(  # type: ignore[no-any-return]
            positional=[_key(one) for one in shown if _is_word(one)],
            iterable=[_key(one) for one in shown if _is_list(one)],
            help={_key(one).replace("_", "-"): str(getattr(one, "help", "")) for one in shown},
        )(function)

    return made


def call(context: Context, *words: str, **given: Any) -> None:
    """Runs the command of these words in this process, with what its task was given.

    Raises Exit with its exit status, unless that is 0.
    """
    before = {number: signal.getsignal(number) for number in HEARD}
    try:
        status = start.main([*words, *_line(_command(words), given), *shlex.split(context.remainder)])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if status:
        raise Exit(code=status)


def _command(words: tuple[str, ...]) -> click.Command:
    command: click.Command = start.lab()
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None, word
        command = found
    return command


def _key(param: click.Parameter) -> str:
    """How invoke knows it: an option as it is typed, without the dashes."""
    return max(param.opts, key=len).lstrip("-").replace("-", "_")


def _is_word(param: click.Parameter) -> bool:
    return isinstance(param, click.Argument) and param.nargs == 1


def _is_list(param: click.Parameter) -> bool:
    return param.nargs == -1 or param.multiple


def _is_flag(param: click.Parameter) -> bool:
    return isinstance(param, click.Option) and bool(param.is_flag)


def _parameter(param: click.Parameter) -> Parameter:
    default: object = Parameter.empty
    if not _is_word(param):
        default = False if _is_flag(param) else None if _is_list(param) else ""
    return Parameter(_key(param), Parameter.POSITIONAL_OR_KEYWORD, default=default)


def _line(command: click.Command, given: Mapping[str, Any]) -> list[str]:
    """The words of a command line: options first."""
    options, words = [], []
    for param in command.params:
        value = given.get(_key(param))
        several = value if isinstance(value, list) else [value] if value else []
        if isinstance(param, click.Argument):
            words += several
        elif _is_flag(param):
            options += [max(param.opts, key=len)] if value else []
        else:
            options += [f"{max(param.opts, key=len)}={one}" for one in several]
    return [*options, *words]
