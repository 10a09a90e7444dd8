"""Who waits for the heap, and how long: interrupts where it masks them, else the task they wake.

An allocator that masks interrupts and one that only suspends the scheduler keep different things
waiting. So each is ranked among its own kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from base.run_folder.quantities import LATENCY, TASK, Quantity
from dashboards.loaded.quantities import SECTIONS, KnownBound, bound_of
from dashboards.loaded.series import Series, spares_interrupts

LOCKS = {
    "basepri": "BASEPRI",
    "primask": "PRIMASK",
    "scheduler": "scheduler",
}
"""What a lock holds off others with, by the name that run.json has."""


@dataclass(frozen=True)
class Waiter:
    """A run in its lane: its worst wait and the median, in ns.

    `bound_ns` is the most that a wait for one section can be, without other interrupts: the greater
    bound of allocation and free, and an idle wait. It is None where the run lacks a part of it, and
    `grows` is True where it grows with the heap.
    """

    one: Series
    worst_ns: float
    median_ns: float
    bound_ns: float | None
    grows: bool

    @property
    def lock(self) -> str:
        """A word on the lock; empty where the run does not tell."""
        return LOCKS.get(self.one.run.manifest.locking or "", "")

    @property
    def name(self) -> str:
        """The run's name, without the lock that all of its lane have."""
        suspends = spares_interrupts(self.one)
        return self.one.name.replace(f", {LOCKS['scheduler']}", "", 1) if suspends else self.one.name


@dataclass(frozen=True)
class Lane:
    """The runs whose heap keeps the same thing waiting, the worst first."""

    quantity: Quantity
    who: str
    waiters: tuple[Waiter, ...]


def lanes(series: Sequence[Series]) -> tuple[Lane, ...]:
    """The lanes that have runs: interrupts first, then tasks."""
    interrupts = [one for one in series if not spares_interrupts(one)]
    tasks = [one for one in series if spares_interrupts(one)]
    made = (_lane(LATENCY, "an interrupt", interrupts), _lane(TASK, "a woken task", tasks))
    return tuple(lane for lane in made if lane.waiters)


def _lane(quantity: Quantity, who: str, series: Sequence[Series]) -> Lane:
    waiters = [waiter for one in series if (waiter := _waiter(quantity, one)) is not None]
    return Lane(quantity, who, tuple(sorted(waiters, key=lambda waiter: -waiter.worst_ns)))


def _waiter(quantity: Quantity, one: Series) -> Waiter | None:
    summary = one.run.summary(quantity)
    if summary.max is None or summary.median is None:
        return None
    sections = [bound_of(one.run, section) for section in SECTIONS]
    idle_ns = one.run.certainty.baselines.get(quantity.key)
    known: list[KnownBound] = [bound for bound in sections if bound is not None]
    whole = idle_ns is not None and len(known) == len(sections)
    longest = max(known, key=lambda bound: bound.ns) if whole else None
    return Waiter(
        one,
        float(summary.max),
        float(summary.median),
        longest.ns + (idle_ns or 0.0) if longest else None,
        bool(longest and longest.region_decided),
    )
