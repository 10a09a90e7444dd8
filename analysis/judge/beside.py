"""Runs beside the runs of a baseline.

On the virtual board every operation must be what it was, to the probe and the cycle, and the wire
must show what it showed.

On a real board what repetitions scatter and what the instruments leave open counts for nothing: a
statistic is worse if it is greater than in the repetitions of the baseline, by more than these
scatter and both error budgets. Counts of the allocator do not scatter: its probes and outcomes must
be equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.compare.settings import FIRMWARE, excuse_of
from analysis.judge.baseline import Entry, Operation, Statistics
from analysis.judge.rows import Check, State
from analysis.judge.stored import IN_CYCLES, RESOLUTION_CYCLES, StoredRun, total_budget, unit_of
from base.metrology.summaries import Number, Summary
from base.run_folder.named_quantities import ALLOCATE, FREE, INTERRUPT, SECTION, TASK
from base.run_folder.quantities import CONTROL

JUDGED = {**{each.name: each.key for each in (SECTION, INTERRUPT, TASK)}, "control": CONTROL.key}
"""What the wire shows and an exact run is held to: the control interrupt's latency, too."""
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
    longer: str
    shorter: str
    of: Callable[[Operation], int | None]
    timed: bool


PROBES = Figure("probes", "look at more blocks", "at fewer", lambda each: each.probes, False)
CYCLES = Figure("cycles", "take longer", "less long", lambda each: each.cycles, True)


@dataclass(frozen=True)
class Pair:
    """One operation before and now. `name` is how a reader knows it."""

    name: str
    before: Operation
    now: Operation

    @property
    def timed(self) -> bool:
        """True if cycles can be compared.

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
        return (before.kind, before.cycles, before.hits) != (now.kind, now.cycles, now.hits)

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
        if self.before.probes != self.now.probes:
            words.append(f"probes {self.before.probes:,} → {self.now.probes:,}")
        return f"{self.name}: {', '.join(words)}"


def judge_exact(entry: Entry, before: Sequence[Operation], run: StoredRun) -> list[Check]:
    """Each quantity of `run` beside the baseline's."""
    excuse = excuse_of(entry.made_by, run.made_by)
    same_firmware = entry.made_by.get(FIRMWARE) == run.made_by.get(FIRMWARE)
    pairs = _pairs(run.names, before, run.operations)
    outcomes, *probes = _counts(entry, pairs, len(before), run)
    same_time = not any(pair.elsewhere for pair in pairs)
    wire = (
        wire_check(word, entry.figures.quantities.get(key), run, same_time) for word, key in JUDGED.items()
    )
    timed = (_figure(CYCLES, pairs, len(before)), *wire)
    return [
        outcomes,
        *(excused(check, excuse if same_firmware else "") for check in probes),
        *(excused(check, excuse) for check in timed),
    ]


def excused(check: Check, excuse: str) -> Check:
    """The check as "cannot say": the reason is not the allocator, so it does not blame it."""
    if check.state != "worse" or not excuse:
        return check
    return replace(check, state="cannot say", sentence=f"{check.sentence} {excuse}.")


def judge_counts(entry: Entry, before: Sequence[Operation], run: StoredRun) -> list[Check]:
    """Outcomes and probes alone, which are equal on any board."""
    return _counts(entry, _pairs(run.names, before, run.operations), len(before), run)


def _counts(entry: Entry, pairs: Sequence[Pair], n: int, run: StoredRun) -> list[Check]:
    other = [pair for pair in pairs if pair.before.kind != pair.now.kind]
    worse = [pair for pair in other if pair.before.kind in _SERVED or pair.now.kind not in _SERVED]
    outcomes = Check("outcomes", "as good", f"All {n:,} operations end as before.")
    if other:
        sentence = f"{len(other):,} of {n:,} operations end otherwise, {len(worse):,} of them for the worse."
        named = tuple(map(str, worse or other))
        outcomes = Check("outcomes", "worse" if worse else "better", sentence, named)
    if not run.counts_probes or entry.made_by.get("probes") != run.made_by.get("probes"):
        return [outcomes, Check("probes", "not judged", "Probes are not counted in both.")]
    return [outcomes, _figure(PROBES, pairs, n)]


def _pairs(names: Sequence[str], before: Sequence[Operation], now: Sequence[Operation]) -> list[Pair]:
    """The operations that are not what they were."""
    beside = zip(names, before, now, strict=True)
    return [Pair(name, then, other) for name, then, other in beside if then != other]


def notes(before: Sequence[Operation], run: StoredRun) -> Iterator[str]:
    """A sentence on where a difference comes from, as far as the figures tell."""
    slower = [pair for pair in _pairs(run.names, before, run.operations) if pair.change(CYCLES) > 0]
    same_code = [
        pair
        for pair in slower
        if pair.before.instructions is not None
        and (pair.before.probes, pair.before.instructions) == (pair.now.probes, pair.now.instructions)
    ]
    if same_code:
        yield (
            f"{len(same_code):,} of the {len(slower):,} slower operations look at as many blocks and execute "
            "as many instructions as before: the code lies elsewhere in the flash, or its caches hold "
            "something else."
        )


def _figure(figure: Figure, pairs: Sequence[Pair], n: int) -> Check:
    more = [pair for pair in pairs if pair.change(figure) > 0]
    less = [pair for pair in pairs if pair.change(figure) < 0]
    compared = n - sum(not pair.timed for pair in pairs) if figure.timed else n
    if not more and not less:
        sentence = f"{compared:,} of {n:,} operations can be compared, and are as in the baseline."
        return Check(figure.quantity, "as good", sentence)
    total = sum(pair.change(figure) for pair in (*more, *less))
    sentence = (
        f"{len(more):,} of {compared:,} operations {figure.longer}, {len(less):,} {figure.shorter}; "
        f"{total:+,} {figure.quantity} in all"
    )
    if more:
        most_by = max(more, key=lambda pair: pair.change(figure))
        sentence += f", most in {most_by.name}: {most_by.change(figure):+,}"
    named = tuple(map(str, more or less))
    state: State = "worse" if more else "better"
    return Check(figure.quantity, state, f"{sentence}.", named)


def statistics_of(summary: Summary | None, *names: str) -> dict[str, float | int]:
    """The statistics that a run has of a quantity, by name; `names` are further ones."""
    if summary is None or not summary.n:
        return {}
    every: Mapping[str, float | int | None] = {
        name: getattr(summary, name) for name in (*names, *_STATISTICS)
    }
    return {name: value for name, value in every.items() if value is not None}


def wire_check(word: str, before: Statistics | None, run: StoredRun, unchanged: bool) -> Check:
    """A quantity of the wire on the virtual board: how many samples there are, and their
    statistics.

    Where an operation takes another time, stimuli fall otherwise, and the greatest latency is
    another one by chance: then it is told, and limits alone judge it.
    """
    now = statistics_of(run.manifest.statistics.get(JUDGED[word]), "n")
    was = {name: values[0] for name, values in before.by_name.items()} if before else {}
    if not now and not was:
        return Check(word, "not judged", "Nothing of it was measured.")
    if was.keys() < now.keys():
        return Check(word, "cannot say", "The baseline has not all of it; write it anew with --update.")
    if now == was:
        return Check(word, "as good", "It is that of the baseline.")
    other = {name: (was[name], now.get(name)) for name in was if was[name] != now.get(name)}
    changes = ", ".join(
        f"{name.replace('_', '.')} {then:,.6g} → {'none' if later is None else f'{later:,.6g}'}"
        for name, (then, later) in other.items()
    )
    sentence = f"It changed, in ns: {changes}."
    if not unchanged:
        why = "Operations take another time than in the baseline, so it is told and not judged."
        return Check(word, "not judged", f"{sentence} {why}")
    # Fewer samples are worse, too: an interrupt was not answered.
    worse = any(
        later is None or (later < then if name == "n" else later > then)
        for name, (then, later) in other.items()
    )
    return Check(word, "worse" if worse else "better", sentence)


FALSE_ALARM = 1e-3
"""How often the gate may fail a run that is as good, over all its questions together."""

_WORDS = {
    **{key: f"{word}, cycles" for word, key in IN_CYCLES.items()},
    **{quantity.key: f"{quantity.name}, pulses" for quantity in (SECTION, ALLOCATE, FREE)},
    **{key: word for word, key in JUDGED.items() if key != SECTION.key},
}


def summed_up(runs: Sequence[StoredRun]) -> dict[str, Statistics]:
    """The statistics that a baseline keeps of the repetitions, by quantity."""
    summaries = {}
    for key in _WORDS:
        each = [statistics_of(run.manifest.statistics.get(key)) for run in runs]
        shared = [name for name in each[0] if all(name in statistics for statistics in each)]
        budget = _budget(runs, key)
        if shared and budget is not None:
            values = {name: [statistics[name] for statistics in each] for name in shared}
            summaries[key] = Statistics(budget=budget, **values)
    return summaries


def judge_repeated(entry: Entry, before: Sequence[Operation], runs: Sequence[StoredRun]) -> list[Check]:
    """Each quantity of `runs`, repetitions of one another, beside the baseline's."""
    questions = sum(len(quantity.by_name) for quantity in entry.figures.quantities.values())
    excuse = excuse_of(entry.made_by, runs[0].made_by)
    each = [judge_counts(entry, before, run) for run in runs]
    checks = max(each, key=lambda checks: sum(check.state == "worse" for check in checks))
    now = summed_up(runs)
    timed = (
        _statistics(key, entry.figures.quantities.get(key), now.get(key), FALSE_ALARM / max(questions, 1))
        for key in _WORDS
        if key in now or key in entry.figures.quantities
    )
    return [*checks, *(excused(check, excuse) for check in timed)]


def _statistics(key: str, before: Statistics | None, now: Statistics | None, share: float) -> Check:
    word, unit = _WORDS[key], unit_of(key)
    if before is None:
        return Check(word, "cannot say", "The baseline has nothing of it.")
    if now is None or before.by_name.keys() - now.by_name.keys():
        return Check(word, "cannot say", "The run lacks statistics that the baseline has, or its budget.")
    changes = {}
    for name, values in before.by_name.items():
        change, uncertain = difference(values, now.by_name[name], share)
        uncertain += float(before.budget) + float(now.budget)
        changes[name] = (change, f"{name.replace('_', '.')} {change:+,.1f} ± {uncertain:,.1f} {unit}")
        if abs(change) <= uncertain:
            changes[name] = (0.0, changes[name][1])
    for state, sign in (("worse", 1), ("better", -1)):
        words = ", ".join(words for change, words in changes.values() if change * sign > 0)
        if words:
            return Check(word, state, f"Beyond scatter and budgets: {words}.")  # type: ignore[arg-type]
    return Check(word, "as good", "Within scatter and error budgets.")


def difference(before: Sequence[Number], now: Sequence[Number], false_alarm: float) -> tuple[float, float]:
    """The difference of two means, and how far it may be off, by Student's t with the pooled
    scatter. `before` has two values or more, `now` one or more.
    """
    import numpy as np  # only of repetitions on a real board
    import scipy  # of an extra: cli/shell/start.py

    x, y = np.asarray(before, dtype=float), np.asarray(now, dtype=float)
    free = len(x) + len(y) - 2
    squares = float(((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum())
    scatter = math.sqrt(squares / free * (1 / len(x) + 1 / len(y)))
    return float(y.mean() - x.mean()), float(scipy.stats.t.isf(false_alarm, free)) * scatter


def _budget(runs: Sequence[StoredRun], key: str) -> float | None:
    """The greatest error budget of the runs, in the quantity's unit; None if one is not known."""
    budgets = [total_budget(run, key) for run in runs]
    least = RESOLUTION_CYCLES if unit_of(key) == "cycles" else 0.0
    return None if None in budgets else max(least, *(budget or 0.0 for budget in budgets))
