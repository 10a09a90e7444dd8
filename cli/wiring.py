"""`./lab wiring`: which clip goes where."""

from __future__ import annotations

from pathlib import Path

from cli.shell import shared
from cli.shell.declare import argument, declare, json_option, option
from cli.shell.values import FILE, Choice


@declare(section="Set up")
@argument(
    "what",
    type=Choice("plan", "check"),
    help="plan: which clip goes where; check: move each pin in turn and say which clip is on it",
)
@shared.board
@option("--svg", type=FILE, help="with plan: draw it into this file, too")
@json_option
def command(what: str, board: str | None, svg: Path | None, as_json: bool) -> int:
    """Show which clip goes where, or check it."""
    from cli.work import wiring

    done = wiring.run(what, board, svg, as_json=as_json)
    print(done.text)
    return done.exit_status
