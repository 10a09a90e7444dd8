"""`./lab dev soak`: its end, and progress on stderr."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cli.work import progress
from firmware.build import image as firmware
from quality.soak import soak
from quality.soak.run import Outcome
from quality.soak.soak import Accounting, SoakError
from simulator import build as simulator


def run(
    *,
    minutes: float | None = None,
    runs: int | None = None,
    seed: int = 1,
    boards: Sequence[str],
    faults: Sequence[str] = (),
    output: Path,
) -> Accounting:
    """A soak of what the options say, into a new folder in `output`.

    To be called within signals.orderly(). Raises TailscopeError.
    """
    soak.check_names(boards, faults)
    if (minutes is None) == (runs is None):
        raise SoakError("A soak needs an end: give --minutes or --runs.")
    simulator.build()
    firmware.build("tlsf")
    end = _End(minutes, runs)
    with progress.shown() as shown:

        def tell(number: int, outcome: Outcome) -> None:
            shown.line(soak.line(number, outcome))
            if shown.in_place:
                shown(f"{number + 1:,} runs are done, {end.left(number + 1)}")

        return soak.soak(
            boards,
            output / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{seed}",
            seed=seed,
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
