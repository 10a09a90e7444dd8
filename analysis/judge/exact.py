"""The virtual board: every operation must be what it was, to the probe, cycle and sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.compare.settings import FIRMWARE, excuse_of
from analysis.judge.baseline import Entry, Statistics
from analysis.judge.checks import Check, State
from analysis.judge.operations import Operation
from analysis.judge.stored import StoredRun
from base.metrology.summaries import Summary
from base.run_folder.quantities import CONTROL, LATENCY
from base.run_folder.quantities import TASK as TASK_LATENCY

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
            words.append(f"pulse {_samples(self.before.pulse)} → {_samples(self.now.pulse)}")
        return f"{self.name}: {', '.join(words)}"


def judge(entry: Entry, before: Sequence[Operation], run: StoredRun, most: int) -> list[Check]:
    """Each quantity of `run` beside the baseline's; of the operations `most` are named."""
    same_firmware = entry.made_by.get(FIRMWARE) == run.made_by.get(FIRMWARE)
    excuse = excuse_of(entry.made_by, run.made_by)
    pairs = changed(before, run)
    checks = [_outcomes(pairs, len(before), most)]
    for figure in (PROBES, CYCLES, PULSES):
        if figure.quantity == "probes" and not _counts_in_both(entry, run):
            checks.append(Check("probes", "not judged", "Probes are not counted in both."))
            continue
        check = _figure(figure, pairs, len(before), most)
        checks.append(excused(check, excuse if figure.timed or same_firmware else ""))
    same_time = not any(pair.elsewhere for pair in pairs)
    return [*checks, *(excused(check, excuse) for check in _latencies(entry, run, same_time))]


def excused(check: Check, excuse: str) -> Check:
    """The check as "cannot say": the reason is not the allocator, so it does not blame it."""
    if check.state != "worse" or not excuse:
        return check
    return replace(check, state="cannot say", sentence=f"{check.sentence} {excuse}.")


def judge_counts(entry: Entry, before: Sequence[Operation], run: StoredRun, most: int) -> list[Check]:
    """Outcomes and probes alone, which are equal on any board."""
    then, now = (list(map(_counts, operations)) for operations in (before, run.operations))
    pairs = _pairs(run.names, then, now)
    checks = [_outcomes(pairs, len(before), most)]
    return [*checks, *([_figure(PROBES, pairs, len(before), most)] if _counts_in_both(entry, run) else [])]


def _counts_in_both(entry: Entry, run: StoredRun) -> bool:
    return run.counts_probes and entry.made_by.get("probes") == run.made_by.get("probes")


def _counts(operation: Operation) -> Operation:
    return Operation(operation.kind, None, None, None, operation.probes)


def changed(before: Sequence[Operation], run: StoredRun) -> list[Pair]:
    """The operations that are not what they were."""
    return _pairs(run.names, before, run.operations)


def _pairs(names: Sequence[str], before: Sequence[Operation], now: Sequence[Operation]) -> list[Pair]:
    beside = zip(names, before, now, strict=True)
    return [Pair(name, then, other) for name, then, other in beside if then != other]


def notes(before: Sequence[Operation], run: StoredRun) -> Iterator[str]:
    """Sentences on where a difference comes from, as far as the figures tell."""
    pairs = changed(before, run)
    met = sum(not pair.timed for pair in pairs)
    if met:
        yield (
            f"{_operations(met)} met by interrupts otherwise than in the baseline: of these, cycles and "
            "pulses are not compared."
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


def _latencies(entry: Entry, run: StoredRun, unchanged: bool) -> Iterator[Check]:
    for word, quantity in JUDGED.items():
        yield latency_check(word, entry.figures.quantities.get(quantity.key), run, unchanged)


def _operations(count: int) -> str:
    return f"{count:,} operation is" if count == 1 else f"{count:,} operations are"


def _samples(pulse: int | None) -> str:
    return "none" if pulse is None else f"{pulse:,} samples"


def statistics_of(summary: Summary | None) -> dict[str, float | int]:
    """The statistics that a run has of a quantity, by name."""
    if summary is None or not summary.n:
        return {}
    every: Mapping[str, float | int | None] = {name: getattr(summary, name) for name in _STATISTICS}
    return {name: value for name, value in every.items() if value is not None}


def counted(summary: Summary | None) -> dict[str, float | int]:
    """The same, and of how many samples: what repeats itself to the cycle has as many."""
    statistics = statistics_of(summary)
    return {"n": summary.n, **statistics} if summary and statistics else {}


def latency_check(word: str, before: Statistics | None, run: StoredRun, unchanged: bool) -> Check:
    """A latency on the virtual board: how many samples there are, and their statistics.

    Where an operation takes another time, stimuli fall otherwise, and the greatest latency is
    another one by chance: then it is told, and limits alone judge it.
    """
    quantity = JUDGED[word]
    now = counted(run.manifest.statistics.get(quantity.key))
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
    if not any(_is_worse(name, was[name], now.get(name)) for name in other):
        return Check(word, "better", sentence)
    return Check(word, "worse", sentence, (f"the longest: {run.longest(quantity)}",), 1)


def _is_worse(name: str, was: float, now: float | None) -> bool:
    """Fewer samples are worse: an interrupt was not answered."""
    return now is None or (now < was if name == "n" else now > was)


def _change(name: str, was: Mapping[str, float], now: Mapping[str, float]) -> str:
    if name == "n":
        return f"n {was[name]:,} → {now[name]:,}"
    after = f"{now[name]:,.1f}" if name in now else "none"
    return f"{name.replace('_', '.')} {was[name]:,.1f} → {after} ns"
