"""`./lab dev soak`: run after run, with faults."""

from __future__ import annotations

from pathlib import Path

from base.paths import BUILD
from base.processes import signals
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import FOLDER, WHOLE, Number, Whole


@declare(section="Is the bench right?")
@option("--minutes", type=Number(), help="how long; the run under way is finished")
@option("--runs", type=WHOLE, help="instead: how many runs")
@option("--seed", type=Whole(0), default=1, help="what the faults are drawn from")
@option(
    "--board",
    metavar="NAMES",
    default="virtual,desk",
    help="one or more of virtual and desk, separated by commas",
)
@option(
    "--fault",
    metavar="NAMES",
    default="",
    show_default=False,
    help="faults of docs/how-to/desk.md to draw from, separated by commas; all when not given",
)
@option(
    "--output",
    type=FOLDER,
    default=BUILD / "soak",
    show_default="build/soak",
    help="the folder for the results, which gets a folder for each soak",
)
@json_option
def command(
    minutes: float | None, runs: int | None, seed: int, board: str, fault: str, output: Path, as_json: bool
) -> int:
    """Make run after run on virtual board and emulated desk, with faults, and account for each."""
    from cli.work import soak
    from quality.soak.soak import as_text

    with signals.orderly():
        found = soak.run(
            minutes=minutes,
            runs=runs,
            seed=seed,
            boards=board.split(","),
            faults=fault.split(",") if fault else [],
            output=output,
        )
        answer(as_json, found.as_json, lambda: as_text(found))
    return int(not found.sound)
