"""A real board: what repetitions scatter and what the instruments leave open counts for nothing.

There are two questions. Is a statistic greater than in the repetitions of the baseline, by more
than these scatter and both error budgets? And are there operations that took longer than in every
repetition, by more than any operation scattered there, and more of them than chance explains?
Counts of the allocator do not scatter: its probes and outcomes must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.compare.settings import excuse_of
from analysis.judge.baseline import Entry, Statistics
from analysis.judge.checks import Check, State
from analysis.judge.exact import JUDGED, excused, judge_counts, statistics_of
from analysis.judge.operations import Operation
from analysis.judge.stored import IN_CYCLES, RESOLUTION_CYCLES, StoredRun, total_budget, unit_of
from base.metrology.summaries import Number
from base.run_folder.named_quantities import ALLOCATE, FREE, SECTION

Floats = npt.NDArray[np.float64]

FALSE_ALARM = 1e-3
"""How often the gate may fail a run that is as good, over all its questions together."""

_WORDS = {
    **{key: f"{word}, cycles" for word, key in IN_CYCLES.items()},
    **{quantity.key: f"{quantity.name}, pulses" for quantity in (SECTION, ALLOCATE, FREE)},
    **{quantity.key: word for word, quantity in JUDGED.items()},
}


@dataclass(frozen=True)
class Difference:
    """A statistic now and before, each the mean of its repetitions, and how far the difference may
    be off. Both in the unit of the quantity.
    """

    statistic: str
    before: float
    now: float
    uncertain: float

    @property
    def change(self) -> float:
        return self.now - self.before

    @property
    def state(self) -> State:
        """Worse or better where the interval of the difference excludes none at all."""
        if abs(self.change) <= self.uncertain:
            return "as good"
        return "worse" if self.change > 0 else "better"

    def words(self, unit: str) -> str:
        return (
            f"{self.statistic.replace('_', '.')} {self.before:,.1f} → {self.now:,.1f} {unit} "
            f"({self.change:+,.1f} ± {self.uncertain:,.1f})"
        )


def summed_up(runs: Sequence[StoredRun]) -> dict[str, Statistics]:
    """The statistics that a baseline keeps of the repetitions, by quantity."""
    summaries = {}
    for key in _WORDS:
        each = _each(runs, key)
        shared = [name for name in each[0] if all(name in statistics for statistics in each)]
        budget = _budget(runs, key)
        if shared and budget is not None:
            values = {name: [statistics[name] for statistics in each] for name in shared}
            summaries[key] = Statistics(budget=budget, **values)
    return summaries


def merged(runs: Sequence[StoredRun]) -> tuple[list[Operation], int, int]:
    """The operations of all repetitions, how wide they scatter, and how many are beyond that.

    The runs have the same operations with the same outcomes and probes.
    """
    cycles = np.array([_undisturbed(run.operations) for run in runs])
    least, most = np.fmin.reduce(cycles), np.fmax.reduce(cycles)
    operations = [
        Operation(operation.kind, _whole(low), _whole(high), None, operation.probes)
        for operation, low, high in zip(runs[0].operations, least, most, strict=True)
    ]
    beyond = 0
    for number in range(len(runs)):
        rest = np.delete(cycles, number, axis=0)
        beyond += len(_beyond(np.fmax.reduce(rest), _scatter(rest), cycles[number]))
    return operations, int(_scatter(cycles)), beyond


def judge(entry: Entry, before: Sequence[Operation], runs: Sequence[StoredRun], most: int) -> list[Check]:
    """Each quantity of `runs`, repetitions of one another, beside the baseline's."""
    questions = 1 + sum(len(quantity.by_name) for quantity in entry.figures.quantities.values())
    share = FALSE_ALARM / questions
    each = [judge_counts(entry, before, run, most) for run in runs]
    checks = max(each, key=lambda checks: sum(check.state == "worse" for check in checks))
    excuse = excuse_of(entry.made_by, runs[0].made_by)
    timed = (_operations(entry, before, runs, share, most), *_statistics(entry, runs, share))
    return [*checks, *(excused(check, excuse) for check in timed)]


def difference(
    statistic: str, before: Sequence[Number], now: Sequence[Number], budgets: float, false_alarm: float
) -> Difference:
    """The difference of two means, and its interval by Student's t with the pooled scatter.

    `before` has two values or more, `now` one or more. `budgets` is added to either side: what
    repetition cannot show, since it is wrong in the same way each time.
    """
    import scipy  # of an extra: cli/shell/extras.py

    x, y = np.asarray(before, dtype=float), np.asarray(now, dtype=float)
    free = len(x) + len(y) - 2
    squares = float(((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum())
    scatter = math.sqrt(squares / free * (1 / len(x) + 1 / len(y)))
    uncertain = float(scipy.stats.t.isf(false_alarm, free)) * scatter + budgets
    return Difference(statistic, float(x.mean()), float(y.mean()), uncertain)


def _statistics(entry: Entry, runs: Sequence[StoredRun], share: float) -> Iterator[Check]:
    for key, word in _WORDS.items():
        before = entry.figures.quantities.get(key)
        each = _each(runs, key)
        if before is None:
            if any(each):
                yield Check(word, "cannot say", "The baseline has nothing of it.")
            continue
        budget = _budget(runs, key)
        if budget is None:
            yield Check(word, "cannot say", "The run does not tell its error budget.")
            continue
        budgets = float(before.budget) + budget
        differences = [
            difference(name, values, [statistics[name] for statistics in each], budgets, share)
            for name, values in before.by_name.items()
            if all(name in statistics for statistics in each)
        ]
        if len(differences) < len(before.by_name):
            yield Check(word, "cannot say", "The run lacks statistics that the baseline has.")
            continue
        yield _check(word, differences, unit_of(key))


def _check(word: str, differences: Sequence[Difference], unit: str) -> Check:
    for state in ("worse", "better"):
        words = ", ".join(each.words(unit) for each in differences if each.state == state)
        if words:
            return Check(word, state, f"{words[0].upper()}{words[1:]}: beyond scatter and budgets.")
    return Check(word, "as good", f"Within scatter and error budgets; {differences[-1].words(unit)}.")


def _operations(
    entry: Entry, before: Sequence[Operation], runs: Sequence[StoredRun], share: float, most: int
) -> Check:
    import scipy  # of an extra: cli/shell/extras.py

    figures = entry.figures
    cycles = np.array([_undisturbed(run.operations) for run in runs])
    now = np.fmin.reduce(cycles)
    most_before = [math.nan if each.most_cycles is None else each.most_cycles for each in before]
    top = np.array(most_before, dtype=float)
    slower = _beyond(top, float(figures.scatter_cycles), now)
    drawn, share_now = len(slower) + figures.beyond_scatter, 1 / (figures.repetitions + 1)
    chance = float(scipy.stats.binom.sf(len(slower) - 1, drawn, share_now))
    scattered = f"by more than the {figures.scatter_cycles:,} cycles that operations scatter"
    sentence = (
        f"{len(slower):,} of {len(before):,} operations take longer than in each of the "
        f"{figures.repetitions} repetitions, {scattered}"
    )
    if not len(slower) or chance >= share:
        return Check("operations", "as good", f"{sentence}: no more than chance explains.")
    named = tuple(
        f"{runs[0].names[at]}: {_range(before[at])} → {int(now[at]):,} cycles" for at in slower[:most]
    )
    return Check("operations", "worse", f"{sentence}.", named, len(slower))


def _range(operation: Operation) -> str:
    low, high = operation.cycles, operation.most_cycles
    return f"{high:,}" if low == high else f"{low:,} to {high:,}"


def _undisturbed(operations: Sequence[Operation]) -> list[float]:
    """The cycles of each operation; NaN where an interrupt met it."""
    return [math.nan if each.hits or each.cycles is None else float(each.cycles) for each in operations]


def _scatter(cycles: Floats) -> float:
    return float(np.fmax.reduce(np.fmax.reduce(cycles) - np.fmin.reduce(cycles), initial=0.0))


def _beyond(top: Floats, scatter: float, now: Floats) -> list[int]:
    """Numbers of the operations that are above `top` by more than `scatter` and one cycle."""
    return [int(at) for at in np.flatnonzero(now - top > max(scatter, RESOLUTION_CYCLES))]


def _whole(value: float) -> int | None:
    return None if math.isnan(value) else int(value)


def _each(runs: Sequence[StoredRun], key: str) -> list[dict[str, float | int]]:
    return [statistics_of(run.manifest.statistics.get(key)) for run in runs]


def _budget(runs: Sequence[StoredRun], key: str) -> float | None:
    """The greatest error budget of the runs, in the quantity's unit; None if one is not known."""
    budgets = [total_budget(run, key) for run in runs]
    least = RESOLUTION_CYCLES if unit_of(key) == "cycles" else 0.0
    return None if None in budgets else max(least, *(budget or 0.0 for budget in budgets))
