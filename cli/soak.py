"""`./lab soak`: its options, and progress on stderr."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from cli import progress
from firmware.build import image as firmware
from quality.soak import soak
from quality.soak.run import Outcome
from quality.soak.soak import Accounting, SoakError
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
    end = _End(
        minutes=_minutes(minutes) if minutes else None, runs=_whole(runs, "runs", least=1) if runs else None
    )
    with progress.shown() as shown:

        def tell(number: int, outcome: Outcome) -> None:
            shown.line(soak.line(number, outcome))
            if shown.in_place:
                shown(f"{number + 1:,} runs are done, {end.left(number + 1)}")

        return soak.soak(
            boards,
            Path(output) / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{seed}",
            seed=_whole(seed, "seed", least=0),
            minutes=end.minutes,
            runs=end.runs,
            faults=faults,
            tell=tell,
        )


class _End:
    """When a soak ends: after so many minutes, or so many runs."""

    def __init__(self, minutes: float | None, runs: int | None) -> None:
        self.minutes = minutes
        self.runs = runs
        self._began_s = time.monotonic()

    def left(self, done: int) -> str:
        """What is left once `done` runs are."""
        passed_s = time.monotonic() - self._began_s
        if self.runs is None:
            return f"about {progress.duration(60 * (self.minutes or 0) - passed_s)} left"
        left_s = passed_s / done * (self.runs - done)
        return f"{self.runs - done:,} to go, about {progress.duration(left_s)}"


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
