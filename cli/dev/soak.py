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
@option("--board", default="virtual,desk", help="one or more of virtual and desk, separated by commas")
@option(
    "--fault",
    default="",
    help="faults of docs/DESK.md to draw from, separated by commas; all when not given",
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
    """Run after run on the virtual board and the emulated desk, with faults; account for each."""
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
