"""The manual page of the installed program, from what the commands declare (man(7))."""

from __future__ import annotations

from collections.abc import Iterator

import click

from base.paths import ROOT
from cli.shell import start
from cli.work import command_pages

_NAME = "tailscope"


def page() -> str:
    """All commands with their words and options."""
    root = start.lab()
    lines = [
        f".TH {_NAME.upper()} 1",
        ".SH NAME",
        f"{_NAME} \\- {_escaped(root.get_short_help_str(1000))}",
        ".SH SYNOPSIS",
        f".B {_NAME}",
        "COMMAND [OPTIONS] [WORDS]",
        ".SH COMMANDS",
        *(line for context in _typed(command_pages.context(root, _NAME)) for line in _command(context)),
        ".SH EXIT STATUS",
        "0 as asked, 1 worse or not complete, 2 misused or cannot say, 128 + n after a signal.",
    ]
    return "\n".join(lines).replace(f"{ROOT}/", "") + "\n"


def _typed(group: click.Context) -> Iterator[click.Context]:
    """Of a group all that can be typed, below its groups too."""
    for context in command_pages.commands(group):
        if isinstance(context.command, click.Group):
            yield from _typed(context)
        else:
            yield context


def _command(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f".SS {_escaped(' '.join([context.command_path, *command.collect_usage_pieces(context)]))}"
    yield _escaped(" ".join((command.help or "").replace("\b", "").split()))
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            yield ".TP"
            yield f".B {_escaped(record[0])}"
            yield _escaped(record[1])


def _escaped(text: str) -> str:
    """For man(7): no escapes of its own, no line that begins with a control character."""
    escaped = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("./lab", _NAME)
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
