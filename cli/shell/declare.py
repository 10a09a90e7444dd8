"""How a file declares its command: options, words, help, the title it stands under, and its call.

    @declare("Read what came out")
    @argument("run", RUN, "a run folder")
    @json_option
    def command(run: Path, as_json: bool) -> int | None:
        \"\"\"Say what the command does, in one line.\"\"\"
        from analysis import something  # what takes a while is loaded when it is called
        ...

What the function returns is the exit status: None or 0 as asked, 1 worse or not complete. It raises
TailscopeError where it cannot say, which is 2.

Commands are found by where they lie: a file of a folder is a command, its name the word.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click
import cloup

from base.paths import INSTALLED
from cli.shell.values import refuse_overwriting

_WIDTH = 100
_CONTEXT: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "show_default": True,
    "formatter_settings": {
        "width": min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns),
        "col1_max_width": 26,
    },
}

Function = Callable[..., int | None]
"""What does a command's work, and returns its exit status."""
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option(*words: Any, **settings: object) -> Decorator:
    """An option of a command: its names, its kind of value, and its help. Without a kind it is a
    flag, or text if it has a metavar. The settings are Click's.
    """
    names, all_settings = _read(words, settings)
    if not {"type", "metavar"} & {*all_settings}:
        all_settings.setdefault("is_flag", True)
    return cloup.option(*names, **all_settings)


def together(*decorators: Decorator) -> Decorator:
    """Several options as one; in help they stand in this order."""

    def add(function: Callable[..., Any]) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return add


def argument(*words: Any, **settings: object) -> Decorator:
    """A word of a command: its name, its kind, which may be left out, and its help."""
    names, all_settings = _read(words, settings)
    return cloup.argument(*names, **all_settings)


def _read(words: Sequence[Any], settings: Mapping[str, object]) -> tuple[list[str], dict[str, Any]]:
    """The names, and all else as Click calls it."""
    *names, text = (word for word in words if isinstance(word, str))
    kind = {"type": word for word in words if not isinstance(word, str)}  # noqa: B035 - one at the most
    return names, {"help": text, **kind, **settings}


_HEADINGS: dict[click.Command, str] = {}
"""By command the title that it stands under."""

json_option = option("--json", "as_json", "print JSON")


def declare(section: str, *, of_checkout: bool = False) -> Callable[[Function], cloup.Command]:
    """Makes a function a command; its docstring is the help. One `of_checkout` works on the bench's
    own sources, which an installed program has not: there it is refused in a sentence.
    """

    def made(function: Function) -> cloup.Command:
        @wraps(function)
        def called(**values: object) -> int | None:
            if of_checkout and INSTALLED:
                raise click.UsageError(
                    "This is for a checkout of the bench, and this program is installed from one."
                )
            refuse_overwriting(click.get_current_context())
            return function(**values)

        command = cloup.command(context_settings=_CONTEXT)(called)
        command.short_help = (command.help or "").strip().partition("\n")[0]
        _HEADINGS[command] = section
        return command

    return made


def packed(kind: type, name: str) -> Callable[[Function], Function]:
    """Gives a function the options that are fields of a dataclass as an argument of this name."""
    names = {field.name for field in fields(kind)}

    def pack(function: Function) -> Function:
        @wraps(function)
        def called(**values: object) -> int | None:
            own = {field: values.pop(field) for field in names & {*values}}
            return function(**values, **{name: kind(**own)})

        return called

    return pack


def answer(
    as_json: bool, document: Callable[[], object], text: Callable[[], str], **files: Path | None
) -> None:
    """Prints what came out, for a program or for a reader, who is told which files were written."""
    if as_json:
        print(json.dumps(document(), indent=2))
    else:
        print(text(), *(f"{kind}: {file}" for kind, file in files.items() if file), sep="\n")


def group(package: str, *, section: str = "", help: str, epilog: str | None = None) -> cloup.Group:
    """The commands of a package: its modules, and its packages that have a command themselves.
    Without one of them it shows its help, in which the titles stand in the order of the package's
    `SECTIONS`.
    """

    @click.pass_context
    def show_help(ctx: click.Context) -> None:
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help())

    module = sys.modules[package]
    sections = {title: cloup.Section(title) for title in module.SECTIONS}
    made = cloup.Group(
        package.rpartition(".")[2],
        callback=show_help,
        invoke_without_command=True,
        help=help,
        short_help=help,
        epilog=epilog,
        context_settings=_CONTEXT,
        sections=[*sections.values()],
    )
    _HEADINGS[made] = section
    for file in pkgutil.iter_modules(module.__path__):
        if not file.name.startswith("_"):
            command = getattr(importlib.import_module(f"{package}.{file.name}"), "command", None)
            if isinstance(command, click.Command):
                word = file.name.replace("_", "-")
                made.add_command(command, word, section=sections[_HEADINGS[command]])
    return made
