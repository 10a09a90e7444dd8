"""Who waits for the heap, and how long: interrupts where it masks them, else the task they wake.

An allocator that masks interrupts and one that only suspends the scheduler keep different things
waiting. So each is ranked among its own kind, and among runs of the same work on the same board:
the longest wait that a run shows to be possible leads (`possible_wait` of run.json).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from base.microseconds import microseconds
from base.run_folder.alike import options_of, parameters_of
from base.run_folder.manifest import Manifest, PossibleWait
from base.run_folder.quantities import LATENCY, SECTION, TASK, Quantity
from dashboards.formatting import spoken
from dashboards.loaded.runs import SECTIONS, bound_of
from dashboards.loaded.series import Members, Series, apart, spares_interrupts, verdict_suffix

LOCKS = {
    "basepri": "BASEPRI",
    "primask": "PRIMASK",
    "scheduler": "scheduler",
}
"""What a lock holds off others with, by the name that run.json has."""

PLACED = {True: 1.10, False: 1.24}
"""How many times as long a section can become by its place in the flash alone, with the flash
accelerator and without: the widest row of docs/reference/placements.md, rounded up. Two runs whose
images were linked once must differ by more to be told apart.
"""


class Waiter(NamedTuple):
    """A run in its lane, the one with the longest possible wait of `repeats` of one setting.

    `quantity` is what waits, `wait` the longest wait that is possible, true to its budget.
    `bound_ns` is the most that a wait for one section can be, without interrupts in it: the greater
    bound of allocation and free, and the entry. It is None where the run lacks a part of it, and
    `grows` is True where it grows with the heap.
    """

    series: Series
    quantity: Quantity
    wait: PossibleWait
    median_ns: float
    bound_ns: float | None
    grows: bool
    repeats: int = 1

    @property
    def possible_ns(self) -> float:
        return float(self.wait.ns)

    @property
    def possible(self) -> str:
        """The same to read: `36.45 µs`."""
        return self.wait.at_least + microseconds(self.possible_ns)

    @property
    def lock(self) -> str:
        """A word on the lock; empty where the run does not tell."""
        return LOCKS.get(self.series.run.manifest.locking or "", "")

    @property
    def name(self) -> str:
        """The run's name, without the lock that all of its lane have; of repeats their number."""
        name = self.series.name
        if self.repeats > 1:
            name = f"{self.series.run.configuration} ({self.repeats} runs)"
            name += verdict_suffix(self.series.run)
        name = name.removesuffix(f" {self.series.run.id}")
        return name.replace(f", {LOCKS['scheduler']}", "", 1) if spares_interrupts(self.series) else name

    @property
    def spoken(self) -> str:
        """The name for a sentence."""
        return spoken(self.name)


class Lane(NamedTuple):
    """The runs whose heap keeps the same thing waiting, the longest possible wait first."""

    quantity: Quantity
    who: str
    waiters: tuple[Waiter, ...]
    work: str = ""
    """In which board and parameters it differs from other lanes, to read: ` (depth 8)`."""

    @property
    def alike(self) -> tuple[tuple[Waiter, Waiter], ...]:
        """Neighbours in the order that are not told apart."""
        return tuple((first, second) for first, second in pairwise(self.waiters) if alike(first, second))


Lanes = Sequence[Lane]
"""Those of one scenario."""


def alike(first: Waiter, second: Waiter) -> bool:
    """True if the possible waits differ by no more than their budgets, or than placement does."""
    more, less = sorted((first.possible_ns, second.possible_ns), reverse=True)
    budgets = [waiter.wait.budget_ns for waiter in (first, second)]
    if None in budgets or more - less <= sum(budget for budget in budgets if budget is not None):
        return True
    range_of_first, range_of_second = (waiter.series.run.placed(SECTION) for waiter in (first, second))
    if range_of_first and range_of_second:
        return range_of_first.meets(range_of_second)
    accelerated = all(waiter.series.run.manifest.built_accelerated for waiter in (first, second))
    return more <= PLACED[accelerated] * less


def lanes(series: Members) -> tuple[Lane, ...]:
    """The lanes that have runs: interrupts first, then tasks; each for one kind of work."""
    waiters = [waiter for member in series if (waiter := _waiter(member)) is not None]
    of_all = [_facts(waiter.series.run.manifest) for waiter in waiters]
    ordering = []
    for quantity, who in ((LATENCY, "an interrupt"), (TASK, "a woken task")):
        groups: dict[object, list[Waiter]] = {}
        for waiter in waiters:
            if waiter.quantity is quantity:
                # What must be the same for two runs to be in one order.
                manifest = waiter.series.run.manifest
                parameters = tuple(sorted(parameters_of(manifest).items()))
                work = (manifest.board_folder, parameters, manifest.seed, manifest.stimulus)
                groups.setdefault(work, []).append(waiter)
        for group in groups.values():
            ordered = sorted(_pooled(group), key=lambda waiter: (-waiter.possible_ns, waiter.name))
            own = _facts(group[0].series.run.manifest)
            # A parameter may have the name of an option, and is none.
            words = [own[name] if name == "board" else f"{name} {own[name]}" for name in apart(own, of_all)]
            ordering.append(Lane(quantity, who, tuple(ordered), f" ({', '.join(words)})" if words else ""))
    return tuple(ordering)


def _facts(manifest: Manifest) -> dict[str, str]:
    parameters = {name: str(value) for name, value in sorted(parameters_of(manifest).items())}
    return {"board": manifest.board_folder, **parameters}


def _pooled(waiters: Sequence[Waiter]) -> Iterator[Waiter]:
    """One for each setting: that with the longest possible wait of all its repeats."""

    def setting(waiter: Waiter) -> str:  # repeats have one firmware, and are all believed or all not
        manifest = waiter.series.run.manifest
        return f"{options_of(manifest)} {manifest.verdict} {manifest.firmware.elf_sha256}"

    for _, group in groupby(sorted(waiters, key=setting), setting):
        repeats = list(group)
        longest = max(repeats, key=lambda waiter: waiter.possible_ns)
        yield longest._replace(repeats=len(repeats))


def _waiter(series: Series) -> Waiter | None:
    wait = series.run.manifest.possible_wait
    quantity = TASK if spares_interrupts(series) else LATENCY
    median = series.run.summary(quantity).median
    if wait is None or median is None:
        return None
    bounds = [bound for section in SECTIONS if (bound := bound_of(series.run, section))]
    longest = max(bounds, key=lambda bound: bound.ns or 0) if len(bounds) == len(SECTIONS) else None
    bound_ns = (longest.ns or 0) + wait.entry_ns if longest else None
    return Waiter(series, quantity, wait, float(median), bound_ns, bool(longest and longest.region_decided))
