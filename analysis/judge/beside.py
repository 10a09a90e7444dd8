"""Runs beside the runs of a baseline.

On the virtual board every operation must be what it was, to the probe, cycle and sample.

On a real board what repetitions scatter and what the instruments leave open counts for nothing.
There are two questions. Is a statistic greater than in the repetitions of the baseline, by more
than these scatter and both error budgets? And are there operations that took longer than in every
repetition, by more than any operation scattered there, and more of them than chance explains?
Counts of the allocator do not scatter: its probes and outcomes must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.compare.settings import FIRMWARE, excuse_of
from analysis.judge.baseline import Entry, Operation, Statistics
from analysis.judge.rows import Check, State
from analysis.judge.stored import IN_CYCLES, RESOLUTION_CYCLES, StoredRun, total_budget, unit_of
from base.metrology.summaries import Number, Summary
from base.run_folder.named_quantities import ALLOCATE, FREE, SECTION
from base.run_folder.quantities import CONTROL, LATENCY
from base.run_folder.quantities import TASK as TASK_LATENCY

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

JUDGED = {"interrupt": LATENCY, "task": TASK_LATENCY, "control": CONTROL}
"""The latencies that are held against a baseline: the control interrupt's, too."""
_STATISTICS = ("mean", "median", "p99", "p99_9", "max")
_SERVED = ("A", "F", "K")
_OUTCOMES = {
    "A": "served",
    "O": "refused for lack of memory",
    "F": "freed",
    "N": "with nothing to free",
    "E": "refused by the allocator",
    "K": "called",
    "S": "skipped",
}


@dataclass(frozen=True)
class Figure:
    """A figure of an operation, and its words. Interrupts lengthen a figure that is `timed`."""

    quantity: str
    unit: str
    longer: str
    shorter: str
    of: Callable[[Operation], int | None]
    timed: bool


PROBES = Figure("probes", "probes", "look at more blocks", "at fewer", lambda each: each.probes, False)
CYCLES = Figure("cycles", "cycles", "take longer", "less long", lambda each: each.cycles, True)
PULSES = Figure("pulses", "samples", "have a longer pulse", "a shorter one", lambda each: each.pulse, True)


@dataclass(frozen=True)
class Pair:
    """One operation before and now. `name` is how a reader knows it."""

    name: str
    before: Operation
    now: Operation

    @property
    def timed(self) -> bool:
        """True if cycles and pulse can be compared.

        An interrupt that met the operation takes more or less, depending on where: so of what was
        met, as often as before, only what executes other instructions.
        """
        before, now = self.before, self.now
        if before.kind != now.kind or before.hits != now.hits:
            return False
        return not now.hits or before.instructions != now.instructions

    @property
    def elsewhere(self) -> bool:
        """True if stimuli may fall otherwise from here on: the program took another time."""
        before, now = self.before, self.now
        return (before.kind, before.cycles, before.pulse, before.hits) != (
            *(now.kind, now.cycles, now.pulse, now.hits),
        )

    def change(self, figure: Figure) -> int:
        """The growth of the figure; 0 if it cannot be compared."""
        before, now = figure.of(self.before), figure.of(self.now)
        if self.before.kind != self.now.kind or (figure.timed and not self.timed):
            return 0
        return 0 if before is None or now is None else now - before

    def __str__(self) -> str:
        """`operation 311, allocate 96 bytes: 2,933 → 3,010 cycles, probes 64 → 66`."""
        if self.before.kind != self.now.kind:
            return f"{self.name}: {_OUTCOMES[self.before.kind]} → {_OUTCOMES[self.now.kind]}"
        words = []
        if self.change(CYCLES):
            words.append(f"{self.before.cycles:,} → {self.now.cycles:,} cycles")
        elif self.before.hits != self.now.hits:
            words.append(f"met by {self.before.hits} → {self.now.hits} interrupts")
        if self.before.probes != self.now.probes:
            words.append(f"probes {self.before.probes:,} → {self.now.probes:,}")
        if self.change(PULSES) != self.change(CYCLES):
            before, now = (
                "none" if each.pulse is None else f"{each.pulse:,} samples"
                for each in (self.before, self.now)
            )
            words.append(f"pulse {before} → {now}")
        return f"{self.name}: {', '.join(words)}"


def judge_exact(entry: Entry, before: Sequence[Operation], run: StoredRun, most: int) -> list[Check]:
    """Each quantity of `run` beside the baseline's; of the operations `most` are named."""
    same_firmware = entry.made_by.get(FIRMWARE) == run.made_by.get(FIRMWARE)
    excuse = excuse_of(entry.made_by, run.made_by)
    pairs = _pairs(run.names, before, run.operations)
    checks = [_outcomes(pairs, len(before), most)]
    for figure in (PROBES, CYCLES, PULSES):
        if figure.quantity == "probes" and not _counts_in_both(entry, run):
            checks.append(Check("probes", "not judged", "Probes are not counted in both."))
            continue
        check = _figure(figure, pairs, len(before), most)
        checks.append(excused(check, excuse if figure.timed or same_firmware else ""))
    same_time = not any(pair.elsewhere for pair in pairs)
    latencies = (
        latency_check(word, entry.figures.quantities.get(quantity.key), run, same_time)
        for word, quantity in JUDGED.items()
    )
    return [*checks, *(excused(check, excuse) for check in latencies)]


def excused(check: Check, excuse: str) -> Check:
    """The check as "cannot say": the reason is not the allocator, so it does not blame it."""
    if check.state != "worse" or not excuse:
        return check
    return replace(check, state="cannot say", sentence=f"{check.sentence} {excuse}.")


def judge_counts(entry: Entry, before: Sequence[Operation], run: StoredRun, most: int) -> list[Check]:
    """Outcomes and probes alone, which are equal on any board."""
    then, now = (
        [Operation(each.kind, None, None, None, each.probes) for each in operations]
        for operations in (before, run.operations)
    )
    pairs = _pairs(run.names, then, now)
    checks = [_outcomes(pairs, len(before), most)]
    return [*checks, *([_figure(PROBES, pairs, len(before), most)] if _counts_in_both(entry, run) else [])]


def _counts_in_both(entry: Entry, run: StoredRun) -> bool:
    return run.counts_probes and entry.made_by.get("probes") == run.made_by.get("probes")


def _pairs(names: Sequence[str], before: Sequence[Operation], now: Sequence[Operation]) -> list[Pair]:
    """The operations that are not what they were."""
    beside = zip(names, before, now, strict=True)
    return [Pair(name, then, other) for name, then, other in beside if then != other]


def notes(before: Sequence[Operation], run: StoredRun) -> Iterator[str]:
    """Sentences on where a difference comes from, as far as the figures tell."""
    pairs = _pairs(run.names, before, run.operations)
    met = sum(not pair.timed for pair in pairs)
    if met:
        yield (
            f"{met:,} operation{' is' if met == 1 else 's are'} met by interrupts otherwise than in the "
            "baseline: of these, cycles and pulses are not compared."
        )
    slower = [pair for pair in pairs if pair.change(CYCLES) > 0]
    same_code = [
        pair
        for pair in slower
        if pair.before.probes == pair.now.probes
        and pair.before.instructions is not None
        and pair.before.instructions == pair.now.instructions
    ]
    if same_code:
        which = "All" if len(same_code) == len(slower) else f"{len(same_code):,}"
        yield (
            f"{which} of the {len(slower):,} slower operations look at as many blocks and execute as many "
            "instructions as before: the code lies elsewhere in the flash, or its caches hold something else."
        )


def _outcomes(pairs: Sequence[Pair], n: int, most: int) -> Check:
    other = [pair for pair in pairs if pair.before.kind != pair.now.kind]
    if not other:
        return Check("outcomes", "as good", f"All {n:,} operations end as before.")
    worse = [pair for pair in other if pair.before.kind in _SERVED or pair.now.kind not in _SERVED]
    state: State = "worse" if worse else "better"
    first = worse or other
    sentence = f"{len(other):,} of {n:,} operations end otherwise, {len(worse):,} of them for the worse."
    return Check("outcomes", state, sentence, tuple(map(str, first[:most])), len(other))


def _figure(figure: Figure, pairs: Sequence[Pair], n: int, most: int) -> Check:
    more = [pair for pair in pairs if pair.change(figure) > 0]
    less = [pair for pair in pairs if pair.change(figure) < 0]
    if not more and not less:
        compared = n - sum(not pair.timed for pair in pairs) if figure.timed else n
        of_all = "all" if compared == n else f"{compared:,} of"
        sentence = f"Those of {of_all} {n:,} operations are as in the baseline."
        return Check(figure.quantity, "as good", sentence)
    total = sum(pair.change(figure) for pair in (*more, *less))
    sentence = (
        f"{len(more):,} of {n:,} operations {figure.longer}, {len(less):,} {figure.shorter}; "
        f"{total:+,} {figure.unit} in all"
    )
    if more:
        most_by = max(more, key=lambda pair: pair.change(figure))
        sentence += f", most in {most_by.name}: {most_by.change(figure):+,}"
    state: State = "worse" if more else "better"
    if figure is PULSES and all(pair.change(PULSES) == pair.change(CYCLES) for pair in pairs):
        return Check(figure.quantity, state, f"{sentence}: as the cycles say.")
    named = tuple(map(str, (more or less)[:most]))
    return Check(figure.quantity, state, f"{sentence}.", named, len(more or less))


def statistics_of(summary: Summary | None, *names: str) -> dict[str, float | int]:
    """The statistics that a run has of a quantity, by name; `names` are further ones."""
    if summary is None or not summary.n:
        return {}
    every: Mapping[str, float | int | None] = {
        name: getattr(summary, name) for name in (*names, *_STATISTICS)
    }
    return {name: value for name, value in every.items() if value is not None}


def latency_check(word: str, before: Statistics | None, run: StoredRun, unchanged: bool) -> Check:
    """A latency on the virtual board: how many samples there are, and their statistics.

    Where an operation takes another time, stimuli fall otherwise, and the greatest latency is
    another one by chance: then it is told, and limits alone judge it.
    """
    quantity = JUDGED[word]
    now = statistics_of(run.manifest.statistics.get(quantity.key), "n")
    was = {name: values[0] for name, values in before.by_name.items()} if before else {}
    if not now and not was:
        return Check(word, "not judged", f"No {word} latency was measured.")
    if not was:
        return Check(word, "cannot say", "The baseline has nothing of it; write it anew with --update.")
    if not now:
        return Check(word, "worse", f"No {word} latency was measured, and the baseline has some.")
    other = [name for name in was if was[name] != now.get(name)]
    if not other and now.keys() - was.keys():
        return Check(word, "cannot say", "The baseline has not all of it; write it anew with --update.")
    if not other:
        return Check(word, "as good", f"The {word} latency is that of the baseline.")
    sentence = f"The {word} latency changed: {', '.join(_change(name, was, now) for name in other)}."
    if not unchanged:
        why = "Stimuli met other operations than in the baseline, so it is told and not judged."
        return Check(word, "not judged", f"{sentence} {why}")
    # Fewer samples are worse, too: an interrupt was not answered.
    if not any(
        name not in now or (now[name] < was[name] if name == "n" else now[name] > was[name]) for name in other
    ):
        return Check(word, "better", sentence)
    return Check(word, "worse", sentence, (f"the longest: {run.longest(quantity)}",), 1)


def _change(name: str, was: Mapping[str, float], now: Mapping[str, float]) -> str:
    if name == "n":
        return f"n {was[name]:,} → {now[name]:,}"
    after = f"{now[name]:,.1f}" if name in now else "none"
    return f"{name.replace('_', '.')} {was[name]:,.1f} → {after} ns"


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
    import numpy as np  # only of repetitions on a real board

    cycles = np.array([_undisturbed(run.operations) for run in runs])
    ends_of_each = (
        (None if math.isnan(end) else int(end) for end in ends)
        for ends in zip(np.fmin.reduce(cycles), np.fmax.reduce(cycles), strict=True)
    )
    operations = [
        Operation(operation.kind, least, most, None, operation.probes)
        for operation, (least, most) in zip(runs[0].operations, ends_of_each, strict=True)
    ]
    beyond = 0
    for number in range(len(runs)):
        rest = np.delete(cycles, number, axis=0)
        beyond += len(_beyond(np.fmax.reduce(rest), _scatter(rest), cycles[number]))
    return operations, int(_scatter(cycles)), beyond


def judge_repeated(
    entry: Entry, before: Sequence[Operation], runs: Sequence[StoredRun], most: int
) -> list[Check]:
    """Each quantity of `runs`, repetitions of one another, beside the baseline's."""
    questions = 1 + sum(len(quantity.by_name) for quantity in entry.figures.quantities.values())
    share = FALSE_ALARM / questions
    each = [judge_counts(entry, before, run, most) for run in runs]
    checks = max(each, key=lambda checks: sum(check.state == "worse" for check in checks))
    excuse = excuse_of(entry.made_by, runs[0].made_by)
    timed = (_slower(entry, before, runs, share, most), *_statistics(entry, runs, share))
    return [*checks, *(excused(check, excuse) for check in timed)]


def difference(
    statistic: str, before: Sequence[Number], now: Sequence[Number], budgets: float, false_alarm: float
) -> Difference:
    """The difference of two means, and its interval by Student's t with the pooled scatter.

    `before` has two values or more, `now` one or more. `budgets` is added to either side: what
    repetition cannot show, since it is wrong in the same way each time.
    """
    import numpy as np  # only of repetitions on a real board
    import scipy  # of an extra: cli/shell/start.py

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


def _slower(
    entry: Entry, before: Sequence[Operation], runs: Sequence[StoredRun], share: float, most: int
) -> Check:
    import numpy as np  # only of repetitions on a real board
    import scipy  # of an extra: cli/shell/start.py

    figures = entry.figures
    cycles = np.array([_undisturbed(run.operations) for run in runs])
    now = np.fmin.reduce(cycles)
    top = np.array([each.most_cycles for each in before], dtype=float)
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
        f"{runs[0].names[at]}: "
        + " to ".join(f"{end:,}" for end in dict.fromkeys((before[at].cycles, before[at].most_cycles)))
        + f" → {int(now[at]):,} cycles"
        for at in slower[:most]
    )
    return Check("operations", "worse", f"{sentence}.", named, len(slower))


def _undisturbed(operations: Sequence[Operation]) -> Floats:
    """The cycles of each operation; NaN where an interrupt met it."""
    import numpy as np  # only of repetitions on a real board

    return np.array([None if each.hits else each.cycles for each in operations], dtype=float)


def _scatter(cycles: Floats) -> float:
    import numpy as np  # only of repetitions on a real board

    return float(np.fmax.reduce(np.fmax.reduce(cycles) - np.fmin.reduce(cycles), initial=0.0))


def _beyond(top: Floats, scatter: float, now: Floats) -> list[int]:
    """Numbers of the operations that are above `top` by more than `scatter` and one cycle."""
    import numpy as np  # only of repetitions on a real board

    return [int(at) for at in np.flatnonzero(now - top > max(scatter, RESOLUTION_CYCLES))]


def _each(runs: Sequence[StoredRun], key: str) -> list[dict[str, float | int]]:
    return [statistics_of(run.manifest.statistics.get(key)) for run in runs]


def _budget(runs: Sequence[StoredRun], key: str) -> float | None:
    """The greatest error budget of the runs, in the quantity's unit; None if one is not known."""
    budgets = [total_budget(run, key) for run in runs]
    least = RESOLUTION_CYCLES if unit_of(key) == "cycles" else 0.0
    return None if None in budgets else max(least, *(budget or 0.0 for budget in budgets))
