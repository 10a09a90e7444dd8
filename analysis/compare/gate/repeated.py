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
import scipy

from analysis.compare.gate.baseline import Entry, Statistics
from analysis.compare.gate.exact import excused, judge_counts
from analysis.compare.gate.lines import Operation
from analysis.compare.gate.measured import Measured
from analysis.compare.gate.outcome import JUDGED, SECTIONS_CYCLES, SECTIONS_NS, Check, told_of
from analysis.compare.settings import excuse_of
from analysis.judged import State
from base.metrology.quantiles import Number

Floats = npt.NDArray[np.float64]

FALSE_ALARM = 1e-3
"""How often the gate may fail a run that is as good, over all its questions together."""
RESOLUTION_CYCLES = 1.0
"""A counter tells no less. It is the least budget of what is counted in cycles."""

_WORDS = {
    **{key: f"{word}, cycles" for word, key in SECTIONS_CYCLES.items()},
    **{key: f"{word}, pulses" for word, key in SECTIONS_NS.items()},
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

    def told(self, unit: str) -> str:
        return (
            f"{self.statistic.replace('_', '.')} {self.before:,.1f} → {self.now:,.1f} {unit} "
            f"({self.change:+,.1f} ± {self.uncertain:,.1f})"
        )


def summed_up(runs: Sequence[Measured]) -> dict[str, Statistics]:
    """The statistics that a baseline keeps of the repetitions, by quantity."""
    found = {}
    for key in _WORDS:
        each = [told_of(run.manifest.statistics.get(key)) for run in runs]
        shared = [name for name in each[0] if all(name in told for told in each)]
        budgets = [_budget(run, key) for run in runs]
        if shared and None not in budgets:
            values = {name: [told[name] for told in each] for name in shared}
            found[key] = Statistics(budget=max(budget or 0.0 for budget in budgets), **values)
    return found


def merged(runs: Sequence[Measured]) -> tuple[list[Operation], int, int]:
    """The operations of all repetitions, how wide they scatter, and how many are beyond that.

    The runs have the same operations with the same outcomes and probes.
    """
    cycles = np.array([_undisturbed(run.operations) for run in runs])
    least, most = np.fmin.reduce(cycles), np.fmax.reduce(cycles)
    operations = [
        Operation(one.kind, _whole(low), _whole(high), None, one.probes)
        for one, low, high in zip(runs[0].operations, least, most, strict=True)
    ]
    beyond = 0
    for number in range(len(runs)):
        rest = np.delete(cycles, number, axis=0)
        beyond += len(_beyond(np.fmax.reduce(rest), _scatter(rest), cycles[number]))
    return operations, int(_scatter(cycles)), beyond


def judge(entry: Entry, before: Sequence[Operation], runs: Sequence[Measured], most: int) -> list[Check]:
    """Each quantity of `runs`, repetitions of one another, beside the baseline's."""
    questions = 1 + sum(len(quantity.known) for quantity in entry.quantities.values())
    share = FALSE_ALARM / questions
    each = [judge_counts(entry, before, run, most) for run in runs]
    checks = max(each, key=lambda found: sum(check.state == "worse" for check in found))
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
    x, y = np.asarray(before, dtype=float), np.asarray(now, dtype=float)
    free = len(x) + len(y) - 2
    squares = float(((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum())
    scatter = math.sqrt(squares / free * (1 / len(x) + 1 / len(y)))
    uncertain = float(scipy.stats.t.isf(false_alarm, free)) * scatter + budgets
    return Difference(statistic, float(x.mean()), float(y.mean()), uncertain)


def _statistics(entry: Entry, runs: Sequence[Measured], share: float) -> Iterator[Check]:
    for key, word in _WORDS.items():
        before = entry.quantities.get(key)
        each = [told_of(run.manifest.statistics.get(key)) for run in runs]
        if before is None:
            if any(each):
                yield Check(word, "cannot say", "The baseline has nothing of it.")
            continue
        unit = "ns" if key.endswith("_ns") else "cycles"
        ours = [_budget(run, key) for run in runs]
        if None in ours:
            yield Check(word, "cannot say", "The run does not tell its error budget.")
            continue
        budgets = float(before.budget) + max(budget or 0.0 for budget in ours)
        found = [
            difference(name, values, [told[name] for told in each], budgets, share)
            for name, values in before.known.items()
            if all(name in told for told in each)
        ]
        if len(found) < len(before.known):
            yield Check(word, "cannot say", "The run lacks statistics that the baseline has.")
            continue
        yield _check(word, found, unit)


def _check(word: str, found: Sequence[Difference], unit: str) -> Check:
    for state in ("worse", "better"):
        if any(one.state == state for one in found):
            told = ", ".join(one.told(unit) for one in found if one.state == state)
            return Check(word, state, f"{told[0].upper()}{told[1:]}: beyond scatter and budgets.")
    greatest = found[-1]
    return Check(word, "as good", f"Within scatter and error budgets; {greatest.told(unit)}.")


def _operations(
    entry: Entry, before: Sequence[Operation], runs: Sequence[Measured], share: float, most: int
) -> Check:
    cycles = np.array([_undisturbed(run.operations) for run in runs])
    now = np.fmin.reduce(cycles)
    top = np.array([math.nan if one.most_cycles is None else one.most_cycles for one in before], dtype=float)
    slower = _beyond(top, float(entry.scatter_cycles), now)
    chance = float(
        scipy.stats.binom.sf(len(slower) - 1, len(slower) + entry.beyond_scatter, 1 / (entry.repetitions + 1))
    )
    scattered = f"by more than the {entry.scatter_cycles:,} cycles that operations scatter"
    sentence = (
        f"{len(slower):,} of {len(before):,} operations take longer than in each of the "
        f"{entry.repetitions} repetitions, {scattered}"
    )
    if not len(slower) or chance >= share:
        return Check("operations", "as good", f"{sentence}: no more than chance explains.")
    named = tuple(
        f"{runs[0].told[at]}: {_range(before[at])} → {int(now[at]):,} cycles" for at in slower[:most]
    )
    return Check("operations", "worse", f"{sentence}.", named, len(slower))


def _range(operation: Operation) -> str:
    low, high = operation.cycles, operation.most_cycles
    return f"{high:,}" if low == high else f"{low:,} to {high:,}"


def _undisturbed(operations: Sequence[Operation]) -> list[float]:
    """The cycles of each operation; NaN where an interrupt met it."""
    return [math.nan if one.hits or one.cycles is None else float(one.cycles) for one in operations]


def _scatter(cycles: Floats) -> float:
    return float(np.fmax.reduce(np.fmax.reduce(cycles) - np.fmin.reduce(cycles), initial=0.0))


def _beyond(top: Floats, scatter: float, now: Floats) -> list[int]:
    """Numbers of the operations that are above `top` by more than `scatter` and one cycle."""
    return [int(at) for at in np.flatnonzero(now - top > max(scatter, RESOLUTION_CYCLES))]


def _whole(value: float) -> int | None:
    return None if math.isnan(value) else int(value)


def _budget(run: Measured, key: str) -> float | None:
    """The error budget of the greatest value, in the quantity's unit; None if nobody knows."""
    unit = "ns" if key.endswith("_ns") else "cycles"
    budget = run.manifest.error_budget.get(key)
    total = budget.total.of(unit) if budget else None
    if total is None:
        return None
    return float(total) if unit == "ns" else max(RESOLUTION_CYCLES, float(total))
