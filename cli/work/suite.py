"""`./lab test`: runs the checks of the rooms asked for, and says how they ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape

from base.processes import tools
from cli.work import checks, rooms, side_by_side
from cli.work.checks import Check
from cli.work.side_by_side import Outcome
from firmware.build import catalogue

STYLE = "style"
"""A word beside the names of rooms: only the checks that look at sources and run nothing."""


def run(words: Sequence[str], everything: bool = False) -> int:
    """Runs the checks of the rooms with these names, or of all if there are none.

    With `everything`, also those that are long, and what passed before with the same sources.

    Returns how many failed. Prints the output of each check in one piece as it ends, and the names
    of those that failed at the end. Raises RoomError.
    """
    outcomes = []
    with Console(stderr=True, highlight=False).status("") as status:
        outcomes_of = side_by_side.run(
            chosen(words, everything),
            lambda names: status.update(escape(", ".join(names))),
            again=everything or bool(words),
        )
        for outcome in outcomes_of:
            print(_told(outcome), flush=True)
            outcomes.append(outcome)
    failed = [outcome.check.name for outcome in outcomes if outcome.state == "failed"]
    left_out = [] if words else _left_out()
    last = [*left_out, *_skipped(outcomes), *(f"failed: {name}" for name in failed), _counts(outcomes)]
    print("", *last, sep="\n", flush=True)
    return len(failed)


def chosen(words: Iterable[str], everything: bool = False) -> list[Check]:
    """The checks of the rooms with these names, each of them once. Raises RoomError."""
    wanted = list(words)
    chosen_rooms = [rooms.of(word) for word in wanted if word != STYLE] or [rooms.WHOLE]
    checks_by_name: dict[str, Check] = {}
    for room in chosen_rooms:
        of_room = checks.of(room, everything)
        if not of_room:
            raise rooms.RoomError(f"Nothing is checked in {room}: choose {room.folder.parts[0]}.")
        checks_by_name.update((check.name, check) for check in of_room)
    return [check for check in checks_by_name.values() if check.style or STYLE not in wanted]


def _told(outcome: Outcome) -> str:
    return f"\n== {outcome.check.name}: {outcome.state} ({outcome.seconds:.0f} s)\n{outcome.output}".rstrip()


def _left_out() -> list[str]:
    """A sentence for each allocator whose sources are not here."""
    missing = [(row.id, row.missing_checkout()) for row in catalogue.allocators().values()]
    return [f"{name} is left out of the checks. {why}" for name, why in missing if why]


def _skipped(outcomes: Sequence[Outcome]) -> list[str]:
    """One sentence for each tool that is not installed here, with the checks that lack it."""
    names = {
        tool: [outcome.check.name for outcome in outcomes if outcome.check.tool == tool.command]
        for tool in tools.tools()
        if not tools.is_installed(tool.command)
    }
    return [
        f"skipped without {tool.command} (Debian's package {tool.packages}): {', '.join(skipped)}"
        for tool, skipped in names.items()
        if skipped
    ]


def _counts(outcomes: Sequence[Outcome]) -> str:
    states = ("passed", "failed", "skipped")
    numbers = [sum(outcome.state == state for outcome in outcomes) for state in states]
    return "checks: " + ", ".join(f"{number} {state}" for number, state in zip(numbers, states, strict=True))
