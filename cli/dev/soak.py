"""`./lab dev soak`: run after run, with faults."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from base.paths import BUILD
from base.processes import signals
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER, WHOLE, number, whole


@declare(section="Is the bench right?")
@option("--minutes", type=number(), help="how long; the run under way is finished")
@option("--runs", type=WHOLE, help="instead: how many runs")
@option("--seed", type=whole(0), default=1, help="what the faults are drawn from")
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
    type=OUTPUT_FOLDER,
    default=BUILD / "soak",
    show_default="build/soak",
    help="the folder for the results, which gets a folder for each soak",
)
@json_option
def command(
    minutes: float | None, runs: int | None, seed: int, board: str, fault: str, output: Path, as_json: bool
) -> int:
    """Make run after run on virtual board and emulated desk, with faults, and account for each."""
    from cli.shell import under_way
    from firmware.build import image as firmware
    from quality.soak import soak
    from quality.soak.soak import Outcome
    from simulator import build as simulator

    with signals.orderly():
        faults = fault.split(",") if fault else []
        soak.check_names(board.split(","), faults)
        if (minutes is None) == (runs is None):
            raise soak.SoakError("A soak needs an end: give --minutes or --runs.")
        simulator.build()
        simulator.build(name=simulator.DESK)
        firmware.build("tlsf")
        began_s = time.monotonic()
        with under_way.shown() as shown:

            def tell(number: int, outcome: Outcome) -> None:
                shown.line(soak.line(number, outcome))
                if shown.in_place:
                    left = _left(number + 1, time.monotonic() - began_s, minutes, runs)
                    shown(f"{number + 1:,} runs are done, {left}")

            accounting = soak.soak(
                board.split(","),
                output / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{seed}",
                seed=seed,
                minutes=minutes,
                runs=runs,
                faults=faults,
                tell=tell,
            )
        answer(as_json, accounting.as_json, lambda: soak.as_text(accounting))
    return int(not accounting.sound)


def _left(done: int, passed_s: float, minutes: float | None, runs: int | None) -> str:
    """What is left once `done` runs are."""
    from cli.shell.under_way import duration

    if runs is None:
        return f"about {duration(60 * (minutes or 0) - passed_s)} left"
    return f"{runs - done:,} to go, about {duration(passed_s / done * (runs - done))}"
