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

Value = str | bool | list[str] | None
"""What invoke hands over of an option or a word."""


def of(*words: str) -> Callable[[Callable[..., None]], Task[Any]]:
    """The task of the command of these words, with the command's options, under the name and the
    docstring of a function.

    Words that must be given stand in front, as the command has them. A word that may be left out
    or repeated is an option of the task, since invoke knows no such words.
    """
    command = _command(words)
    shown = [
        param for param in command.params if not getattr(param, "hidden", False) and param.name != "help"
    ]

    def made(function: Callable[[], None]) -> Task[Any]:
        def body(context: Context, **values: Value) -> None:
            _run(context, [*words, *_line(command, values)])

        body.__name__, body.__doc__ = function.__name__, function.__doc__
        parameters = [Parameter("context", Parameter.POSITIONAL_OR_KEYWORD), *map(_parameter, shown)]
        body.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return task(  # type: ignore[no-any-return]
            positional=[_key(param) for param in shown if _is_word(param)],
            iterable=[_key(param) for param in shown if _is_list(param)],
            help={_key(param).replace("_", "-"): str(getattr(param, "help", "")) for param in shown},
        )(body)

    return made


def _run(context: Context, words: list[str]) -> None:
    """Runs the command line in this process. Raises Exit with its exit status, unless that is 0."""
    before = {number: signal.getsignal(number) for number in HEARD}
    try:
        status = start.main([*words, *shlex.split(context.remainder)])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if status:
        raise Exit(code=status)


def _command(words: tuple[str, ...]) -> click.Command:
    command: click.Command = start.lab()
    for word in words:
        assert isinstance(command, click.Group)
        subcommand = command.get_command(click.Context(command), word)
        assert subcommand is not None, word
        command = subcommand
    return command


def _key(param: click.Parameter) -> str:
    """The name of an option for invoke: as it is typed, without the dashes."""
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


def _line(command: click.Command, values: Mapping[str, Value]) -> list[str]:
    """The words of a command line: options first."""
    options: list[str] = []
    words: list[str] = []
    for param in command.params:
        value = values.get(_key(param))
        several = value if isinstance(value, list) else [value] if value else []
        if isinstance(param, click.Argument):
            words += map(str, several)
        elif _is_flag(param):
            options += [max(param.opts, key=len)] if value else []
        else:
            options += [f"{max(param.opts, key=len)}={word}" for word in several]
    return [*options, *words]
