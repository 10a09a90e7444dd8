"""`./lab heap reproduce`: the tables of five publications, beside their published values."""

from __future__ import annotations

from pathlib import Path

from base.paths import BUILD, ROOT
from cli.shell import shared
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import FOLDER


@declare(section="Published figures")
@argument("table", nargs=-1, help="tables of five publications, as --list names them; all when none is given")
@option("--quick", is_flag=True, help="fewer seeds, one placement, and only the allocators that a table has")
@option("--list", "listed", is_flag=True, help="name the tables and say how each compares")
@shared.jobs
@option(
    "--output",
    type=FOLDER,
    default=BUILD / "reproduced",
    show_default="build/reproduced",
    help="the folder for pages and CSV files",
)
@json_option
def command(
    table: tuple[str, ...], quick: bool, listed: bool, jobs: int, output: Path, as_json: bool
) -> None:
    """Make the tables of five publications again, beside their published values."""
    from cli.work import reproduce

    if listed:
        print(reproduce.listing())
        return
    whole = None if table or quick else ROOT / "docs" / "reference"
    done = reproduce.run(table, quick=quick, jobs=jobs, output=output, pages_of_all=whole)
    answer(
        as_json, lambda: [reproduce.as_json(made) for made in done], lambda: reproduce.as_text(done, output)
    )
