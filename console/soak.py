"""`./lab soak`: its options, and progress on stderr."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from analysis.soak import soak, text
from analysis.soak.run import Outcome
from analysis.soak.soak import Accounting, SoakError
from firmware import build as firmware
from simulator import build as simulator

_NUMBER = "give a number above 0"


def run(
    *, minutes: str = "", runs: str = "", seed: str = "1", board: str = "", fault: str = "", output: str
) -> Accounting:
    """A soak of what the options say, into a new folder in `output`.

    To be called within signals.orderly(). Raises TailscopeError.
    """
    boards = board.split(",") if board else ["virtual", "desk"]
    faults = fault.split(",") if fault else []
    soak.check_names(boards, faults)
    if bool(minutes) == bool(runs):
        raise SoakError("A soak needs an end: give --minutes or --runs.")
    simulator.build()
    firmware.build("tlsf")
    console = Console(stderr=True, highlight=False)

    def tell(number: int, outcome: Outcome) -> None:
        console.print(escape(text.line(number, outcome)))

    return soak.soak(
        boards,
        Path(output) / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{seed}",
        seed=_whole(seed, "seed", least=0),
        minutes=_minutes(minutes) if minutes else None,
        runs=_whole(runs, "runs", least=1) if runs else None,
        faults=faults,
        tell=tell,
    )


def _minutes(given: str) -> float:
    try:
        minutes = float(given)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < float("inf"):
        raise SoakError(f"--minutes {given}: {_NUMBER}.")
    return minutes


def _whole(given: str, option: str, least: int) -> int:
    if not (given.isascii() and given.isdecimal() and int(given) >= least):
        raise SoakError(f"--{option} {given}: give a whole number of {least} or more.")
    return int(given)
