"""Commands that are found by where they lie: a file of a folder is a command, its name the word."""

from __future__ import annotations

import importlib
import pkgutil
import shutil
import sys
from collections.abc import Iterator, MutableMapping
from typing import Any

import click
import cloup

from base.files.errors import near_miss

_WIDTH = 100
CONTEXT: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "show_default": True,
    "formatter_settings": {
        "width": min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns),
        "col1_max_width": 26,
    },
}


class _Page:
    """What the help of a command and of a group have in common."""

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
    """A command, and the title that it stands under in the help of its group."""

    heading = "Others"
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


class CommandFolder(_Page, cloup.Group):
    """The commands of one package: its modules, and its packages that have a command themselves."""

    def __init__(self, package: str, *, section: str = "", help: str, epilog: str | None = None) -> None:
        super().__init__(
            package.rpartition(".")[2],
            help=help,
            short_help=first_line(help),
            epilog=epilog,
            context_settings=CONTEXT,
            no_args_is_help=False,
            options_metavar="",
            subcommand_metavar="COMMAND [WORDS] [--options]",
        )
        self.package = package
        self.heading = section
        self.invoke_without_command = True

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The words, sorted."""
        return sorted(name for name, _ in self._found())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this word; None if no file has it."""
        if name.replace("-", "_") not in self._modules():
            return None
        return self._command(name)

    def _modules(self) -> list[str]:
        path = sys.modules[self.package].__path__
        return [
            module_info.name
            for module_info in pkgutil.iter_modules(path)
            if not module_info.name.startswith("_")
        ]

    def _command(self, name: str) -> click.Command | None:
        module = importlib.import_module(f"{self.package}.{name.replace('-', '_')}")
        command = getattr(module, "command", None)
        if isinstance(command, click.Command):
            command.name = name
            return command
        return None

    def _found(self) -> Iterator[tuple[str, click.Command]]:
        for module in self._modules():
            word = module.replace("_", "-")
            if (command := self._command(word)) is not None:
                yield word, command

    def list_sections(self, ctx: click.Context, include_default_section: bool = True) -> list[cloup.Section]:
        """The commands under their titles: those that `SECTIONS` of the package names in that
        order, then all others.
        """
        titles: MutableMapping[str, dict[str, click.Command]] = {}
        for title in getattr(sys.modules[self.package], "SECTIONS", ()):
            titles[title] = {}
        for word, command in sorted(self._found()):
            titles.setdefault(getattr(command, "heading", "Others"), {})[word] = command
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
            raise click.UsageError(_no_such_command(self, ctx, word), ctx)
        return super().resolve_command(ctx, args)


def _no_such_command(folder: CommandFolder, ctx: click.Context, word: str) -> str:
    if word.startswith("-"):
        options = [name for parameter in folder.get_params(ctx) for name in parameter.opts]
        return f"There is no option {word[:80]!r}.{near_miss(word, options)}"
    near = near_miss(word, folder.list_commands(ctx))
    return f"There is no command {word[:80]!r}.{near or f' {ctx.command_path} --help lists them all.'}"


def first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]
