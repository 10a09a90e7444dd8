"""`./lab faults`: reads or makes the runs, plants the faults, and tells what is under way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from quality.faults import campaign, planting
from quality.faults.campaign import Outcome, Report
from quality.faults.planting import Fault, FaultError, Healthy, read_healthy

# A word on progress now and then is enough.
_TELL_EVERY = 10

Tell = Callable[[str], None]


def run(folders: Sequence[Path], n: int, seed: int, jobs: int, tell: Tell = lambda _: None) -> Report:
    """A campaign over the runs in `folders`; without any, over small ones that are made for it.
    `tell` hears what is under way.

    Raises TailscopeError, and FaultError for numbers that make no sense.
    """
    for option, number in (("n", n), ("jobs", jobs)):
        if number < 1:
            raise FaultError(f"--{option} {number}: give 1 or more.")
    if seed < 0:
        raise FaultError(f"--seed {seed}: give 0 or more.")
    runs = _runs(folders, tell)
    began_s = time.monotonic()

    def told(done: int) -> None:
        if done % _TELL_EVERY == 0:
            left_s = (time.monotonic() - began_s) / done * (n - done)
            tell(f"{done:,} of {n:,} faults planted, about {left_s:,.0f} s left")

    return campaign.run(runs, n, seed, jobs, told)


def replay(folders: Sequence[Path], name: str, seed: int, tell: Tell = lambda _: None) -> Outcome:
    """One fault of such a campaign again, by its name KIND:NUMBER. Raises FaultError."""
    fault = Fault.named(name)
    return campaign.replay(_runs(folders, tell), fault, seed)


def _runs(folders: Sequence[Path], tell: Tell) -> list[Healthy]:
    if folders:
        return [read_healthy(folder) for folder in folders]
    return planting.make(tell)
