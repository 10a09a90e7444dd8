"""invoke's command line, and tasks that take a list: `./lab dashboard RUN RUN --output=FILE`.

What stands behind `--` goes into the list as it is: `./lab record -- ls -l "a b"`.

A task gets a list if it declares a parameter both `positional` and `iterable`. invoke itself knows
each of these, but not both together.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from invoke.exceptions import Exit, ParseError
from invoke.parser.argument import Argument
from invoke.parser.context import ParserContext
from invoke.parser.parser import Parser, ParseResult
from invoke.program import Program

from base.files.errors import no_such
from cli import refusals
from cli.commands import commands

_MISSING = re.compile(r"did not receive required positional arguments: (.*)")
_UNKNOWN = re.compile(r"No idea what '(.*)' is!")
_VALUELESS = re.compile(r"Flag (?:'|<Argument: )(?:--)?([^' (>]+).* needed value")
_WITHOUT_A_COMMAND = ("--help", "--list", "--version")
_ONE_LETTER = re.compile(r"--([a-z])(?:=(.*))?")


class ListParser(Parser):
    """invoke's parser. Words that a task with a list does not know otherwise go into its list."""

    behind: Sequence[str] = ()
    """The words behind `--`."""

    def parse_argv(self, argv: list[str]) -> ParseResult:
        """Splits the command line into tasks with their arguments. Raises ParseError."""
        argv = [word for given in argv for word in _as_invoke_has_it(given)]
        context = self.contexts.get(argv[0]) if argv else None
        listed = _listed(context)
        if context is None or listed is None:
            return super().parse_argv(argv)
        words, others = self._divide(context, argv)
        result = Parser([context], self.initial).parse_argv(others)
        for word in [*words, *self.behind]:
            result[-1].args[listed.name].value = word
        return result

    def _divide(self, context: ParserContext, argv: Sequence[str]) -> tuple[list[str], list[str]]:
        """The words that are neither an option nor an option's value, and all others."""
        alone = Parser([context], self.initial, ignore_unknown=True)
        words: list[str] = []
        others = list(argv)
        while unparsed := alone.parse_argv(others).unparsed:
            if unparsed[0].startswith("-"):
                break
            words.append(unparsed[0])
            others = [*others[: len(others) - len(unparsed)], *unparsed[1:]]
        return words, others


def _as_invoke_has_it(word: str) -> list[str]:
    """A long option of one letter as the short one: invoke
    knows `-n 5`, and not `--n 5` or `--n=5`.
    """
    match = _ONE_LETTER.fullmatch(word)
    return [word] if match is None else [part for part in (f"-{match[1]}", match[2]) if part is not None]


def _listed(context: ParserContext | None) -> Argument | None:
    """The task's argument that takes a list of words; None if it has none."""
    arguments = context.positional_args if context else []
    return next((argument for argument in arguments if argument.kind is list), None)


class Lab(Program):
    """invoke's program, with this file's parser."""

    _behind: Sequence[str] = ()

    def parse_core(self, argv: list[str] | None) -> None:
        """Keeps the words behind `--` apart; invoke would make one text of them."""
        words = sys.argv if argv is None else argv
        end = words.index("--") if "--" in words else len(words)
        self._behind = words[end + 1 :]
        super().parse_core(words[:end])

    def parse_tasks(self) -> None:
        """Says in our words what invoke refuses in its own."""
        try:
            super().parse_tasks()
        except ParseError as error:
            name = error.context.name if error.context else None
            said = _in_our_words(str(error), name)
            raise Exit(said, code=refusals.exit_status(name)) from None

    def _make_parser(self) -> Parser:
        stock = super()._make_parser()
        parser = ListParser(stock.contexts.values(), stock.initial)
        parser.behind = self._behind
        return parser


def _in_our_words(said: str, name: str | None) -> str:
    """What invoke said of a command line for the command `name`; else as invoke said it."""
    command = commands().get(name or "")
    unknown = _UNKNOWN.fullmatch(said)
    if command is None:
        return said if unknown is None else no_such("option", unknown[1], _WITHOUT_A_COMMAND)
    if missing := _MISSING.search(said):
        words = {word.name: word.help for word in command.words}
        lacking = re.findall(r"'([^']+)'", missing[1])
        return " ".join(f"./lab {name} needs {one.upper()}: {words.get(one)}." for one in lacking)
    if unknown:
        return f"./lab {name} cannot take {unknown[1]!r}: ./lab {name} --help says what it takes."
    if valueless := _VALUELESS.search(said):
        helps = {option.name: option.help for option in (*command.options, *command.words)}
        return f"--{valueless[1]} needs a value: {helps.get(valueless[1], f'see ./lab {name} --help')}."
    return said


program = Lab(name="Tailscope", binary="lab", binary_names=["lab"])
