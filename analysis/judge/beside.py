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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.compare.settings import FIRMWARE, excuse_of
from analysis.judge.baseline import Entry, Operation, Statistics
from analysis.judge.rows import Check
from analysis.judge.stored import IN_CYCLES, RESOLUTION_CYCLES, StoredRun, total_budget, unit_of
from base.metrology.summaries import Number
from base.run_folder.named_quantities import ALLOCATE, FREE, INTERRUPT, SECTION, TASK
from base.run_folder.quantities import CONTROL

JUDGED = {**{each.key: each.name for each in (SECTION, INTERRUPT, TASK)}, CONTROL.key: "control"}
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


_MORE_AND_LESS = {"probes": ("look at more blocks", "at fewer"), "cycles": ("take longer", "less long")}
"""The words of the figures of an operation that are compared."""


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

    def change(self, figure: str) -> int:
        """The growth of `cycles` or `probes`; 0 if it cannot be compared."""
        before, now = getattr(self.before, figure), getattr(self.now, figure)
        comparable = self.timed if figure == "cycles" else self.before.kind == self.now.kind
        return now - before if comparable and None not in (before, now) else 0

    def __str__(self) -> str:
        """`operation 311, allocate 96 bytes: 2,933 → 3,010 cycles, probes 64 → 66`."""
        if self.before.kind != self.now.kind:
            return f"{self.name}: {_OUTCOMES[self.before.kind]} → {_OUTCOMES[self.now.kind]}"
        words = []
        if self.change("cycles"):
            words.append(f"{self.before.cycles:,} → {self.now.cycles:,} cycles")
        if self.before.probes != self.now.probes:
            words.append(f"probes {self.before.probes:,} → {self.now.probes:,}")
        return f"{self.name}: {', '.join(words)}"


def judge_exact(entry: Entry, before: Sequence[Operation], run: StoredRun) -> list[Check]:
    """Each quantity of `run` beside the baseline's."""
    excuse = excuse_of(entry.made_by, run.made_by)
    same_firmware = entry.made_by.get(FIRMWARE) == run.made_by.get(FIRMWARE)
    pairs, was, now = _pairs(before, run), entry.figures.quantities, summed_up([run])
    outcomes, probes = judge_counts(entry, before, run)
    same_time = not any(pair.elsewhere for pair in pairs)
    wire = (wire_check(word, was.get(key), now.get(key), same_time) for key, word in JUDGED.items())
    return [
        outcomes,
        excused(probes, excuse if same_firmware else ""),
        *(excused(check, excuse) for check in (_figure("cycles", pairs, len(before)), *wire)),
    ]


def excused(check: Check, excuse: str) -> Check:
    """The check as "cannot say": the reason is not the allocator, so it does not blame it."""
    if check.state != "worse" or not excuse:
        return check
    return replace(check, state="cannot say", sentence=f"{check.sentence} {excuse}.")


def judge_counts(entry: Entry, before: Sequence[Operation], run: StoredRun) -> list[Check]:
    """Outcomes and probes alone, which are equal on any board."""
    pairs, n = _pairs(before, run), len(before)
    other = [pair for pair in pairs if pair.before.kind != pair.now.kind]
    worse = [pair for pair in other if pair.before.kind in _SERVED or pair.now.kind not in _SERVED]
    outcomes = Check("outcomes", "as good", f"All {n:,} operations end as before.")
    if other:
        sentence = f"{len(other):,} of {n:,} operations end otherwise, {len(worse):,} of them for the worse."
        named = tuple(map(str, worse or other))
        outcomes = Check("outcomes", "worse" if worse else "better", sentence, named)
    if not run.counts_probes or entry.made_by.get("probes") != run.made_by.get("probes"):
        return [outcomes, Check("probes", "not judged", "Probes are not counted in both.")]
    return [outcomes, _figure("probes", pairs, n)]


def _pairs(before: Sequence[Operation], run: StoredRun) -> list[Pair]:
    """The operations that are not what they were."""
    return [pair for pair in map(Pair, run.names, before, run.operations) if pair.before != pair.now]


def notes(before: Sequence[Operation], run: StoredRun) -> Iterator[str]:
    """A sentence on where a difference comes from, as far as the figures tell."""
    slower = [pair for pair in _pairs(before, run) if pair.change("cycles") > 0]
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


def _figure(figure: str, pairs: Sequence[Pair], n: int) -> Check:
    more = [pair for pair in pairs if pair.change(figure) > 0]
    less = [pair for pair in pairs if pair.change(figure) < 0]
    compared = n - sum(not pair.timed for pair in pairs) if figure == "cycles" else n
    if not more and not less:
        sentence = f"{compared:,} of {n:,} operations can be compared, and are as in the baseline."
        return Check(figure, "as good", sentence)
    total = sum(pair.change(figure) for pair in pairs)
    longer, shorter = _MORE_AND_LESS[figure]
    sentence = (
        f"{len(more):,} of {compared:,} operations {longer}, {len(less):,} {shorter}; "
        f"{total:+,} {figure} in all"
    )
    if more:
        most_by = max(more, key=lambda pair: pair.change(figure))
        sentence += f", most in {most_by.name}: {most_by.change(figure):+,}"
    return Check(figure, "worse" if more else "better", f"{sentence}.", tuple(map(str, more or less)))


def wire_check(word: str, before: Statistics | None, now: Statistics | None, unchanged: bool) -> Check:
    """A quantity of the wire on the virtual board: how many samples there are, and their
    statistics.

    Where an operation takes another time, stimuli fall otherwise, and the greatest latency is
    another one by chance: then it is told, and limits alone judge it.
    """
    was, new = (
        {name: values[0] for name, values in each.by_name.items()} if each else {} for each in (before, now)
    )
    if not new and not was:
        return Check(word, "not judged", "Nothing of it was measured.")
    if was.keys() < new.keys():
        return Check(word, "cannot say", "The baseline has not all of it; write it anew with --update.")
    if new == was:
        return Check(word, "as good", "It is that of the baseline.")
    other = {name: (was[name], new.get(name)) for name in was if was[name] != new.get(name)}
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
    **{key: word for key, word in JUDGED.items() if key != SECTION.key},
}


def summed_up(runs: Sequence[StoredRun]) -> dict[str, Statistics]:
    """The statistics that a baseline keeps of a run that is exact, or of repetitions, by quantity.

    The budget is the greatest of them; a quantity of which one is not known is left out.
    """
    exact, summaries = runs[0].exact, {}
    for key in JUDGED if exact else _WORDS:
        each = [run.manifest.statistics.get(key) for run in runs]
        names = ("n", *_STATISTICS) if exact else _STATISTICS
        shared = {
            name: numbers
            for name in names
            if all(each) and None not in (numbers := [getattr(summary, name) for summary in each])
        }
        budgets = [total_budget(run, key) for run in runs]
        if all(summary and summary.n for summary in each) and shared and None not in budgets:
            least = RESOLUTION_CYCLES if unit_of(key) == "cycles" else 0
            summaries[key] = Statistics(budget=max(least, *(budget or 0 for budget in budgets)), **shared)
    return summaries


def judge_repeated(entry: Entry, before: Sequence[Operation], runs: Sequence[StoredRun]) -> list[Check]:
    """Each quantity of `runs`, repetitions of one another, beside the baseline's."""
    questions = sum(len(quantity.by_name) for quantity in entry.figures.quantities.values())
    excuse = excuse_of(entry.made_by, runs[0].made_by)
    each = [judge_counts(entry, before, run) for run in runs]
    checks = max(each, key=lambda checks: sum(check.state == "worse" for check in checks))
    was, now = entry.figures.quantities, summed_up(runs)
    timed = (
        _statistics(key, was.get(key), now.get(key), FALSE_ALARM / max(questions, 1))
        for key in _WORDS
        if key in now or key in was
    )
    return [*checks, *(excused(check, excuse) for check in timed)]


def _statistics(key: str, before: Statistics | None, now: Statistics | None, share: float) -> Check:
    word, unit = _WORDS[key], unit_of(key)
    if before is None:
        return Check(word, "cannot say", "The baseline has nothing of it.")
    if now is None or before.by_name.keys() - now.by_name.keys():
        return Check(word, "cannot say", "The run lacks statistics that the baseline has, or its budget.")
    changes = []
    for name, values in before.by_name.items():
        change, uncertain = difference(values, now.by_name[name], share)
        uncertain += float(before.budget) + float(now.budget)
        if abs(change) > uncertain:
            changes.append((change, f"{name.replace('_', '.')} {change:+,.1f} ± {uncertain:,.1f} {unit}"))
    for state, sign in (("worse", 1), ("better", -1)):
        words = ", ".join(words for change, words in changes if change * sign > 0)
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
