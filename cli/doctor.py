"""`./lab doctor`: what is installed and plugged in."""

from __future__ import annotations

from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import BOARD


@declare(section="Set up")
@option("--board", type=BOARD, help="an entry of bench.toml: look at what is plugged in for it, too")
@json_option
def command(board: str | None, as_json: bool) -> int:
    """Show what is installed and, with --board, plugged in; what is missing and how to get it."""
    from cli.work import doctor

    found = doctor.report(board)
    answer(as_json, found.as_json, found.as_text)
    return int(not found.can_run)
