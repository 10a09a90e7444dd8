"""`./lab dev soak`: run after run, with faults."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

from base.paths import BUILD
from base.processes import signals
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import NUMBER, OUTPUT_FOLDER, WHOLE, several, whole


@declare("Is the bench right?")
@option("--runs", WHOLE, "how many runs; 100 when neither is given")
@option("--minutes", NUMBER, "how long at the most", default=math.inf, show_default=False)
@option("--seed", whole(0), "what the faults are drawn from", default=1)
@option(
    "--board",
    several("virtual", "desk"),
    "one or more of virtual and desk, separated by commas",
    metavar="NAMES",
    default="virtual,desk",
)
@option(
    "--fault",
    "faults of docs/how-to/desk.md to draw from, separated by commas; all when not given",
    metavar="NAMES",
    default="",
    show_default=False,
)
@option(
    "--output",
    OUTPUT_FOLDER,
    "the folder for the results, which gets a folder for each soak",
    default=BUILD / "soak",
    show_default="build/soak",
)
@json_option
def command(
    runs: int | None,
    minutes: float,
    seed: int,
    board: tuple[str, ...],
    fault: str,
    output: Path,
    as_json: bool,
) -> int:
    """Make run after run on virtual board and emulated desk, with faults, and account for each."""
    from cli.shell import under_way
    from quality.soak import soak

    with signals.orderly(), under_way.shown() as shown:
        accounting = soak.soak(
            board,
            output / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{seed}",
            runs=100 if runs is None and minutes == math.inf else runs,
            minutes=minutes,
            seed=seed,
            faults=fault.split(",") if fault else [],
            tell=shown.line,
        )
        answer(as_json, accounting.as_json, lambda: soak.as_text(accounting))
    return int(not accounting.sound)
