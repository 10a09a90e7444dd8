"""The virtual board: every operation must be what it was, to the probe, cycle and sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.compare.gate.baseline import Entry
from analysis.compare.gate.lines import Operation
from analysis.compare.gate.measured import Measured
from analysis.compare.gate.outcome import JUDGED, Check, latency_check
from analysis.compare.settings import FIRMWARE, excuse_of
from analysis.errors import GateError
from analysis.judged import State

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


PROBES = Figure("probes", "probes", "look at more blocks", "at fewer", lambda one: one.probes, False)
CYCLES = Figure("cycles", "cycles", "take longer", "less long", lambda one: one.cycles, True)
PULSES = Figure("pulses", "samples", "have a longer pulse", "a shorter one", lambda one: one.pulse, True)


@dataclass(frozen=True)
class Pair:
    """One operation before and now. `told` is how a reader knows it."""

    told: str
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
            return f"{self.told}: {_OUTCOMES[self.before.kind]} → {_OUTCOMES[self.now.kind]}"
        words = []
        if self.change(CYCLES):
            words.append(f"{self.before.cycles:,} → {self.now.cycles:,} cycles")
        elif self.before.hits != self.now.hits:
            words.append(f"met by {self.before.hits} → {self.now.hits} interrupts")
        if self.before.probes != self.now.probes:
            words.append(f"probes {self.before.probes:,} → {self.now.probes:,}")
        if self.change(PULSES) != self.change(CYCLES):
            words.append(f"pulse {_samples(self.before.pulse)} → {_samples(self.now.pulse)}")
        return f"{self.told}: {', '.join(words)}"


def judge(entry: Entry, before: Sequence[Operation], run: Measured, most: int) -> list[Check]:
    """Each quantity of `run` beside the baseline's; of the operations `most` are named."""
    same_firmware = entry.made_by.get(FIRMWARE) == run.made_by.get(FIRMWARE)
    excuse = excuse_of(entry.made_by, run.made_by)
    pairs = changed(before, run)
    counted = run.counts_probes and entry.made_by.get("probes") == run.made_by.get("probes")
    checks = [_outcomes(pairs, len(before), most)]
    for figure in (PROBES, CYCLES, PULSES):
        if figure.quantity == "probes" and not counted:
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


def judge_counts(entry: Entry, before: Sequence[Operation], run: Measured, most: int) -> list[Check]:
    """Outcomes and probes alone, which are equal on any board."""
    then, now = ([_counts(one) for one in operations] for operations in (before, run.operations))
    beside = zip(run.told, then, now, strict=True)
    pairs = [Pair(told, one, other) for told, one, other in beside if one != other]
    checks = [_outcomes(pairs, len(before), most)]
    counted = run.counts_probes and entry.made_by.get("probes") == run.made_by.get("probes")
    checks += [_figure(PROBES, pairs, len(before), most)] if counted else []
    return checks


def _counts(operation: Operation) -> Operation:
    return Operation(operation.kind, None, None, None, operation.probes)


def changed(before: Sequence[Operation], run: Measured) -> list[Pair]:
    """The operations that are not what they were."""
    beside = zip(run.told, before, run.operations, strict=True)
    return [Pair(told, one, now) for told, one, now in beside if one != now]


def notes(before: Sequence[Operation], run: Measured) -> Iterator[str]:
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
        sentence += f", most in {most_by.told}: {most_by.change(figure):+,}"
    state: State = "worse" if more else "better"
    if figure is PULSES and all(pair.change(PULSES) == pair.change(CYCLES) for pair in pairs):
        return Check(figure.quantity, state, f"{sentence}: as the cycles say.")
    named = tuple(map(str, (more or less)[:most]))
    return Check(figure.quantity, state, f"{sentence}.", named, len(more or less))


def _latencies(entry: Entry, run: Measured, unchanged: bool) -> Iterator[Check]:
    for word, quantity in JUDGED.items():
        yield latency_check(word, entry.quantities.get(quantity.key), run, unchanged)


def _operations(count: int) -> str:
    return f"{count:,} operation is" if count == 1 else f"{count:,} operations are"


def _samples(pulse: int | None) -> str:
    return "none" if pulse is None else f"{pulse:,} samples"


def summary_of_change(old: Entry, new: Entry) -> str:
    """A sentence on how the operations of two entries with the same image differ."""
    try:
        before, now = old.read_operations(), new.read_operations()
    except GateError:
        return "operations that could not be read"
    pairs = [Pair("", one, other) for one, other in zip(before, now, strict=False) if one != other]
    if not pairs:
        return "the same operations"
    sums = ", ".join(f"{sum(pair.change(one) for pair in pairs):+,} {one.unit}" for one in (PROBES, CYCLES))
    return f"{len(pairs):,} of {len(now):,} operations changed, {sums}"
