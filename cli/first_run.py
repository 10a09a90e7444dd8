"""`./lab first-run`: from plugged in to the first number that may be believed."""

from __future__ import annotations

from pathlib import Path

from base.paths import BUILD, RUNS
from cli.shell import shared
from cli.shell.declare import declare, json_option, option
from cli.shell.values import FILE, FOLDER, SECONDS


@declare(section="Set up")
@shared.board
@option(
    "--rate-for",
    "rate_s",
    type=SECONDS,
    help="how long the analyzer must keep up; a minute, or 2s of a board that is emulated, when not given",
)
@option(
    "--output",
    type=FILE,
    default=BUILD / "bring-up.html",
    show_default="build/bring-up.html",
    help="the page to write; the same as JSON lies beside it",
)
@option("--runs", type=FOLDER, default=RUNS, show_default="runs", help="the folder that its runs go to")
@json_option
def command(board: str | None, rate_s: float | None, output: Path, runs: Path, as_json: bool) -> int:
    """Bring up a board: from plugged in to the first believed number, step by step."""
    from cli.work import first_run

    return first_run.run(board, rate_s, output, runs, as_json=as_json)
