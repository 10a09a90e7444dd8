"""`./lab faults`: reads or makes the runs, plants the faults, and shows progress on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from analysis.faults import campaign, made
from analysis.faults.campaign import Outcome, Report
from analysis.faults.planting import Fault, FaultError, Healthy, read_healthy

# A word on progress now and then is enough.
_TELL_EVERY = 10


def run(folders: Sequence[Path], n: int, seed: int, jobs: int) -> Report:
    """A campaign over the runs in `folders`; without any, over small ones that are made for it.

    Raises TailscopeError, and FaultError for numbers that make no sense.
    """
    for option, number in (("n", n), ("jobs", jobs)):
        if number < 1:
            raise FaultError(f"--{option} {number}: give 1 or more.")
    if seed < 0:
        raise FaultError(f"--seed {seed}: give 0 or more.")
    runs = _runs(folders)
    with Console(stderr=True, highlight=False).status("") as status:
        return campaign.run(runs, n, seed, jobs, lambda done: _tell(status, done, n))


def replay(folders: Sequence[Path], name: str, seed: int) -> Outcome:
    """One fault of such a campaign again, by its name KIND:NUMBER. Raises FaultError."""
    fault = Fault.named(name)
    return campaign.replay(_runs(folders), fault, seed)


def _runs(folders: Sequence[Path]) -> list[Healthy]:
    if folders:
        return [read_healthy(folder) for folder in folders]
    with Console(stderr=True, highlight=False).status("") as status:
        return made.make(lambda step: status.update(escape(step)))


def _tell(status: Status, done: int, n: int) -> None:
    if done % _TELL_EVERY == 0:
        status.update(f"{done:,} of {n:,} faults planted")
