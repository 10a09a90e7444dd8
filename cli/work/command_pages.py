"""A page in Markdown for each command, from what the command declares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import click

INDEX = "README.md"


def pages(command: click.Command, program: str) -> dict[str, str]:
    """The text of each page by its path: an index for each group, and a page for each command.

    `program` is what a user types for `command`. Equal declarations give equal text.
    """
    return {str(path): text for path, text in _pages(context(command, program), PurePosixPath())}


def _pages(ctx: click.Context, folder: PurePosixPath) -> Iterator[tuple[PurePosixPath, str]]:
    if not isinstance(ctx.command, click.Group):
        yield folder.with_suffix(".md"), _page(ctx)
        return
    inner = list(commands(ctx))
    yield folder / INDEX, _page(ctx, inner)
    for below in inner:
        yield from _pages(below, folder / str(below.info_name))


def commands(ctx: click.Context) -> Iterator[click.Context]:
    """Those of a group that its help lists, by name."""
    assert isinstance(ctx.command, click.Group)
    for name in ctx.command.list_commands(ctx):
        command = ctx.command.get_command(ctx, name)
        if command is not None and not command.hidden:
            yield context(command, name, ctx)


def context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    """That of a command which a user types as `name`, for its help alone."""
    names: Any = command.context_settings.get("help_option_names")  # the command remembers these
    return click.Context(
        command, info_name=name, parent=parent, resilient_parsing=True, help_option_names=names
    )


def _page(ctx: click.Context, inner: list[click.Context] | None = None) -> str:
    command = ctx.command
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    parts = [f"# {ctx.command_path}", *_prose(command.help), f"    {usage}"]
    if inner:
        rows = [(f"[{below.info_name}]({_address(below)})", _line(below)) for below in inner]
        parts += [_table("command", rows)]
    for title, kind in (("Words", click.Argument), ("Options", click.Option)):
        if rows := list(_rows(ctx, kind)):
            parts += [f"## {title}", _table(title.lower()[:-1], rows)]
    return "\n\n".join([*parts, *_prose(command.epilog)]) + "\n"


def _address(ctx: click.Context) -> str:
    group = isinstance(ctx.command, click.Group)
    return f"{ctx.info_name}/{INDEX}" if group else f"{ctx.info_name}.md"


def _line(ctx: click.Context) -> str:
    return ctx.command.get_short_help_str(limit=1000)


def _rows(ctx: click.Context, kind: type[click.Parameter]) -> Iterator[tuple[str, str]]:
    for parameter in ctx.command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if isinstance(parameter, kind) and record is not None:
            yield f"`{record[0]}`", record[1]


def _prose(text: str | None) -> list[str]:
    """Its paragraphs, without the marks by which Click keeps one as it is written."""
    paragraphs = (text or "").replace("\b\n", "").replace("\f", "").strip().split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip()]


def _table(what: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {what} | meaning |", "|---|---|"]
    return "\n".join([*lines, *(f"| {_cell(word)} | {_cell(text)} |" for word, text in rows)])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
