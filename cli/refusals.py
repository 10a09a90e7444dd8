"""Command lines that cannot be meant, each refused with one sentence before anything is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from base.files.errors import TailscopeError, near_miss
from cli.commands import Command, commands

JUDGES = frozenset({"compare", "gate"})
"""Commands that answer with their exit status: 1 is worse. So what they cannot read is 2."""


class UsageError(TailscopeError):
    """A command or an option that there is not. The message says what was probably meant."""

    def __init__(self, message: str, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status


def exit_status(command: str | None) -> int:
    """The exit status of a line for `command` that is no such line."""
    return 2 if command in JUDGES else 1


def check(words: Sequence[str]) -> None:
    """Raises UsageError for the first of `words` that cannot be one.

    `words` are those before `--`. An option before the command is invoke's own.
    """
    if not words or words[0].startswith("-"):
        return
    found = commands()
    if words[0] not in found:
        raise UsageError(
            f"There is no command {words[0][:80]!r}.{near_miss(words[0], found) or ' ./lab lists them all.'}"
        )
    named = [found[word] for word in words if word in found]
    for word in words[1:]:
        _check_option(word.partition("=")[0], found[words[0]], named)


def _check_option(flag: str, command: Command, named: Sequence[Command]) -> None:
    """A long option that none of the commands in the line has, nor short forms of one letter."""
    known = [option for one in named for option in one.flags]
    if not flag.startswith("--") or len(flag) < 4 or flag in known:
        return
    question = near_miss(flag, known) or f" ./lab {command.name} --help lists them."
    said = f"./lab {command.name} has no option {flag[:80]}.{question}"
    raise UsageError(said, exit_status(command.name))
