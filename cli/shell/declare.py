"""How a file declares its command: options, words, help, the title it stands under, and its call.

    @declare(section="Read what came out")
    @argument("run", type=RUN, help="a run folder")
    @json_option
    def command(run: Path, as_json: bool) -> int | None:
        \"\"\"Say what the command does, in one line.\"\"\"
        from analysis import something  # what takes a while is loaded when it is called
        ...

What the function returns is the exit status: None or 0 as asked, 1 worse or not complete. It raises
TailscopeError where it cannot say, which is 2.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps

import click
import cloup

from base.paths import INSTALLED
from cli.shell.folder import CONTEXT, LabCommand, first_line

argument = cloup.argument
"""A word of a command."""
option = cloup.option
"""An option of a command."""

json_option = option("--json", "as_json", is_flag=True, help="print JSON")


def declare(
    section: str = "Commands", *, of_checkout: bool = False
) -> Callable[[Callable[..., int | None]], LabCommand]:
    """Makes a function a command; its docstring is the help. One `of_checkout` works on the bench's
    own sources, which an installed program has not: there it is refused in a sentence.
    """

    def made(function: Callable[..., int | None]) -> LabCommand:
        if of_checkout and INSTALLED:
            function = _refusing(function)
        command = cloup.command(cls=LabCommand, options_metavar="[--options]", context_settings=CONTEXT)(
            function
        )
        command.heading = section
        command.short_help = first_line(command.help)
        return command

    return made


def _refusing(function: Callable[..., int | None]) -> Callable[..., int | None]:
    @wraps(function)
    def refuse(**_: object) -> int | None:
        raise click.UsageError("This is for a checkout of the bench, and this program is installed from one.")

    return refuse


def answer(as_json: bool, document: Callable[[], object], text: Callable[[], str]) -> None:
    """Prints what came out, for a program or for a reader."""
    print(json.dumps(document(), indent=2) if as_json else text())
