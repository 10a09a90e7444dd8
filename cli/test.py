"""`./lab test`: every check of the project."""

from __future__ import annotations

from collections.abc import Iterator

import click
from click.shell_completion import CompletionItem

from base.paths import ROOT
from cli.shell.declare import argument, declare, option


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    return [CompletionItem(room) for room in _rooms() if room.startswith(incomplete)]


def _rooms() -> Iterator[str]:
    yield "style"
    yield from sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())


@declare(section="Set up", of_checkout=True)
@argument(
    "room",
    nargs=-1,
    shell_complete=_complete,
    help="folders such as simulator, capture/verdict or heap/tlsf; all when none is given",
)
@option("--all", "everything", is_flag=True, help="also the tests that take long")
def command(room: tuple[str, ...], everything: bool) -> int:
    """Run the checks of the project, or those of the given rooms."""
    from cli.work import suite

    return int(bool(suite.run(room, everything)))
