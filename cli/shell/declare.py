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

Commands are found by where they lie: a file of a folder is a command, its name the word.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import click
import cloup

from base.files.errors import near_miss
from base.paths import INSTALLED

_WIDTH = 100
_CONTEXT: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "show_default": True,
    "formatter_settings": {
        "width": min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns),
        "col1_max_width": 26,
    },
}

argument = cloup.argument
"""A word of a command."""
option = cloup.option
"""An option of a command."""

json_option = option("--json", "as_json", is_flag=True, help="print JSON")


class _Page:
    """What the help of a command and of a group have in common."""

    heading = "Others"
    """The title that it stands under in the help of its group."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Words first, options behind them, last what stands behind `--`."""
        options, *words = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return sorted([*words, options], key=lambda piece: piece.startswith("[-- "))

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option --help, which help itself does not list."""
        option: click.Option | None = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.hidden = True
        return option


class LabCommand(_Page, cloup.Command):
    """A command."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the words. Raises UsageError for one that the command has no place for."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        if rest and not ctx.resilient_parsing:
            raise click.UsageError(
                f"{ctx.command_path} cannot take {rest[0][:80]!r}: "
                f"{ctx.command_path} --help says what it takes.",
                ctx,
            )
        return rest

    def get_arguments_help_section(self, ctx: click.Context) -> cloup.formatting.HelpSection | None:
        """The words, under that title."""
        section = super().get_arguments_help_section(ctx)
        if section is not None:
            section.heading = "Words"
        return section


def declare(
    section: str = "Commands", *, of_checkout: bool = False
) -> Callable[[Callable[..., int | None]], LabCommand]:
    """Makes a function a command; its docstring is the help. One `of_checkout` works on the bench's
    own sources, which an installed program has not: there it is refused in a sentence.
    """

    def made(function: Callable[..., int | None]) -> LabCommand:
        @wraps(function)
        def refuse(**_: object) -> None:
            raise click.UsageError(
                "This is for a checkout of the bench, and this program is installed from one."
            )

        command = cloup.command(cls=LabCommand, options_metavar="[--options]", context_settings=_CONTEXT)(
            refuse if of_checkout and INSTALLED else function
        )
        command.heading = section
        command.short_help = _first_line(command.help)
        return command

    return made


def answer(as_json: bool, document: Callable[[], object], text: Callable[[], str]) -> None:
    """Prints what came out, for a program or for a reader."""
    print(json.dumps(document(), indent=2) if as_json else text())


class CommandFolder(_Page, cloup.Group):
    """The commands of one package: its modules, and its packages that have a command themselves."""

    def __init__(self, package: str, *, section: str = "", help: str, epilog: str | None = None) -> None:
        super().__init__(
            package.rpartition(".")[2],
            help=help,
            short_help=_first_line(help),
            epilog=epilog,
            context_settings=_CONTEXT,
            no_args_is_help=False,
            options_metavar="",
            subcommand_metavar="COMMAND [WORDS] [--options]",
        )
        self.package = package
        self.heading = section
        self.invoke_without_command = True

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The words, sorted."""
        return sorted(name for name, _ in self._commands())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this word; None if no file has it."""
        name = name.replace("-", "_")
        if name not in self._modules():
            return None
        command = getattr(importlib.import_module(f"{self.package}.{name}"), "command", None)
        if not isinstance(command, click.Command):
            return None
        command.name = name.replace("_", "-")
        return command

    def _modules(self) -> list[str]:
        modules = pkgutil.iter_modules(sys.modules[self.package].__path__)
        return [module.name for module in modules if not module.name.startswith("_")]

    def _commands(self) -> Iterator[tuple[str, click.Command]]:
        for module in self._modules():
            if command := self.get_command(click.Context(self), module):
                yield str(command.name), command

    def list_sections(self, ctx: click.Context, include_default_section: bool = True) -> list[cloup.Section]:
        """The commands under their titles: those that `SECTIONS` of the package names in that
        order, then all others.
        """
        titles: dict[str, dict[str, click.Command]] = {
            title: {} for title in getattr(sys.modules[self.package], "SECTIONS", ())
        }
        for word, command in sorted(self._commands()):
            titles.setdefault(getattr(command, "heading", _Page.heading), {})[word] = command
        return [cloup.Section(title, commands) for title, commands in titles.items() if commands]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the words. `help`, `-l` and `--list` in place of a command ask for help, too."""
        if args and args[0] in ("help", "--list", "-l"):
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Raises UsageError for a word that is no command, with the one that was probably meant."""
        word = args[0]
        if self.get_command(ctx, word) is None and not ctx.resilient_parsing:
            if word.startswith("-"):
                options = [name for parameter in self.get_params(ctx) for name in parameter.opts]
                raise click.UsageError(f"There is no option {word[:80]!r}.{near_miss(word, options)}", ctx)
            near = near_miss(word, self.list_commands(ctx)) or f" {ctx.command_path} --help lists them all."
            raise click.UsageError(f"There is no command {word[:80]!r}.{near}", ctx)
        return super().resolve_command(ctx, args)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]
