"""Two runs beside each other: settings, operations, worst cases, distributions.

In sentences A reads before B (docs/how-to/compare.md). The document:

**Ways.** `exact`: both runs are of the virtual board (`tools` has `virtual_nucleo`, `imported` is
null), at one samplerate; each difference counts. `budgets`: all others; the budget of a difference
is the sum of both runs' (`error_budget`, *total*).

    schema                        2
    a, b                          the folders, as they were given
    status                        of all pairs, below
    headline                      one sentence
    confidence                    of the intervals
    pairs [{
      a, b {folder, scenario, allocator, configuration, board, verdict}
      paired_by                   "given", "options" or "scenario"
      way                         "exact" or "budgets"
      status, headline
      doubts[]                    sentences on why B cannot be judged
      notes[]                     sentences that must be known beside the figures
      settings [{name, a, b}]
      worst [{quantity, a, b {value, seq, kind, at_least}, budget, finding, chance_p, change,
              percent, moved}]
      operations {joined, only_a, only_b, changed, first, other_outcome[], met_otherwise,
                  columns [{column, words, unit, changed, increase, decrease, total}]}
      placements [{quantity, a, b {n, least, median, greatest}, smaller_than_placement}]
      distributions [{quantity, a, b {n, min, mean, …, max}, budget, shift, shift_interval,
                      no_interval, undecided, beyond}]
    }]
    only_a[], only_b[]            runs without a partner, as a and b above
    older                         how many runs a later one with the same options stands for
    unreadable[], left_out[]      sentences

- *settings* are those that differ; null is what a run does not tell.
- *worst* has the maxima of `section_ns`, `critical_ns`, `free_critical_ns`, `interrupt_latency_ns`,
  `task_latency_ns`, `control_latency_ns`, `dwt_cycles`, `free_dwt_cycles` and `probes` (run.json),
  of those that a run has. *change* is B less A, *percent* of A. *seq* is null outside all
  operations. *moved*: another operation is the worst.
- *finding*: `equal`; `within the budgets`; `better` or `worse`; `chance`: beyond the budget, but
  not surely more than chance; `not told`: a run has no sample, or no budget.
- *operations* is null if the images differ (`image_crc32`). It is joined by `seq`. A column
  that is null in all rows of a run is left out.
- *changed* of operations: another outcome, or a column that differs by more than its budget; the
  whole operation on the wire has that of the critical section.
- *increase* and *decrease* are null or `{seq, a, b, change}`; *total* is the sum of all changes.
- *met_otherwise* counts the changed ones with another `isr_hits` or `control_hits`.
- *placements* has the worst cases of runs that both have `placements.json`.
  *smaller_than_placement*: they differ, and the ranges meet; then *notes* has a sentence.
- *shift* (Hodges–Lehmann) is of B against A, null on the way `exact`. The interval is null, too, if
  *no_interval* says why. *beyond*: the interval of the shift, or the shift if there is none, lies
  outside plus or minus *budget*, and *undecided* is 0.
- *undecided* is of the latencies that are split by what was hit. It counts the interrupts of both
  runs of which the wire does not tell whether they belong (interrupts). It is 0 if the medians
  differ by more than the budget however these are decided. No worst case has such samples.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl
from pydantic import BaseModel

from analysis.compare.findings import (
    Distribution,
    Operations,
    Ranges,
    Worst,
    allowed,
    compare_operations,
    distributions,
    join,
    placed,
    short,
    signed,
    spaced,
    worst_cases,
)
from analysis.compare.pairing import Pair, PairedBy, Pairing, Run, SideRuns, Stored, find, pair, read
from analysis.compare.settings import Change, differing, settings
from base.files.errors import TailscopeError
from base.metrology.summaries import CONFIDENCE
from base.run_folder.quantities import QUANTITIES, Quantity
from base.tell import Tell

Status = Literal["worse", "cannot say", "not worse", "equal"]
WORST_FIRST: tuple[Status, ...] = get_args(Status)
Way = Literal["exact", "budgets"]


@dataclass(frozen=True, eq=False)
class Compared:
    """Two runs, A and B, and what came of comparing them.

    `way` is `exact` where both are of the virtual board, captured at one samplerate: then each
    difference counts. Otherwise differences up to the error budgets mean nothing. `operations` is
    None where the runs did not run the same operations. `placements` is empty unless the images of
    both were linked several times.
    """

    a: Run
    b: Run
    paired_by: PairedBy
    way: Way
    settings: tuple[Change, ...]
    operations: Operations | None
    worst: tuple[Worst, ...]
    distributions: tuple[Distribution, ...]
    placements: tuple[Ranges, ...]

    @cached_property
    def unbelieved(self) -> tuple[str, ...]:
        """Sentences on why one of the runs may not be believed at all."""
        sentences = []
        for run in (self.a, self.b):
            manifest = run.manifest
            if not manifest.complete:
                sentences.append(" ".join([f"{run.folder}: is {manifest.verdict}.", *manifest.reasons]))
            if contradiction := run.contradiction:
                sentences.append(contradiction)
        return tuple(sentences)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences on why nothing can be said of B against A; empty where something can."""
        return self.unbelieved + tuple(
            f"{worst.words}: a run does not tell how wrong it may be; ./lab redecode it."
            for worst in self.worst
            if worst.finding == "not told" and worst.budget is None
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what must be known beside the figures."""
        sentences = [ranges.sentence() for ranges in self.placements if ranges.smaller_than_placement]
        if self.operations is None:
            sentences.append("The runs did not run the same operations, so no single one is compared.")
        if self.paired_by == "scenario":
            sentences.append("Their options differ; each is the only run left of its scenario.")
        return tuple(sentences)

    @cached_property
    def status(self) -> Status:
        findings = {worst.finding for worst in self.worst}
        if "worse" in findings and not self.unbelieved:
            return "worse"
        if self.doubts or findings <= {"not told"}:
            return "cannot say"
        if self.operations is None:
            equal = False
        elif self.way == "exact":
            # The tables of both are the same in all that both tell.
            equal = _equal(self.a.operations, self.b.operations)
            equal = equal and _equal(self.a.interrupts, self.b.interrupts)
        else:
            beyond = any(distribution.beyond for distribution in self.distributions)
            equal = findings <= {"equal", "within the budgets"} and not (self.operations.changed or beyond)
        return "equal" if equal else "not worse"


def compare_pair(pair: Pair) -> Compared:
    """Reads and compares two runs. Raises TailscopeError where a table of one cannot be read."""
    a, b = read(pair.a), read(pair.b)
    exact = a.manifest.exact and b.manifest.exact and a.manifest.samplerate_hz == b.manifest.samplerate_hz
    same = a.manifest.image_crc32 == b.manifest.image_crc32
    worst = worst_cases(a, b, exact, join(a, b) if same else None)
    by_column: dict[str, float] = {}
    if not exact:
        # The difference that the budgets allow. The whole operation on the wire is a width as the
        # critical section is; it has no budget of its own, so it gets the larger of these.
        for quantity in QUANTITIES:
            if quantity.table == "operations" and (budget := allowed(a, b, quantity)) is not None:
                by_column[quantity.column] = max(budget, by_column.get(quantity.column, 0.0))
        by_column["wire_operation_ns"] = by_column.get("wire_critical_ns", 0.0)
    return Compared(
        a=a,
        b=b,
        paired_by=pair.by,
        way="exact" if exact else "budgets",
        settings=differing(settings(a.manifest), settings(b.manifest)),
        operations=compare_operations(a, b, by_column) if same else None,
        worst=worst,
        distributions=distributions(a, b, exact),
        placements=placed(a, b, [each.quantity for each in worst if each.finding == "equal"]),
    )


def _equal(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    names = [
        name
        for name in ours.columns
        if name in theirs.columns and ours[name].count() and theirs[name].count()
    ]
    return ours.select(names).equals(theirs.select(names))


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came out. `unreadable` are sentences on runs that should have been compared, `left_out`
    on those that are no matter here.
    """

    a: SideRuns
    b: SideRuns
    pairing: Pairing
    compared: tuple[Compared, ...]
    unreadable: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def status(self) -> Status:
        """The worst of all pairs. A run that could not be read leaves nothing equal."""
        statuses = {comparison.status for comparison in self.compared}
        if self.unreadable or not statuses:
            statuses.add("cannot say")
        return min(statuses, key=WORST_FIRST.index)


def compare(a: Path, b: Path, tell: Tell = lambda _: None) -> Comparison:
    """Compares the runs of two folders.

    `tell` hears what is going on. Raises TailscopeError where a side holds no run. A run that
    cannot be read in a folder of runs raises nothing: `unreadable` tells of it.
    """
    ours, theirs = find(a), find(b)
    pairing = pair(ours, theirs)
    compared: list[Compared] = []
    unreadable = [*ours.broken, *theirs.broken]
    for number, match in enumerate(pairing.pairs, 1):
        manifest = match.b.manifest
        tell(f"{number} of {len(pairing.pairs)}: {manifest.scenario}, {manifest.configuration}")
        try:
            compared.append(compare_pair(match))
        except TailscopeError as error:
            if match.by == "given":
                raise
            unreadable.append(str(error))
    left_out = dict.fromkeys((*ours.left_out, *theirs.left_out))
    return Comparison(
        ours, theirs, pairing, tuple(compared), tuple(dict.fromkeys(unreadable)), tuple(left_out)
    )


def headline(compared: Compared) -> str:
    """One pair in one sentence."""
    if compared.status == "cannot say":
        return (
            " ".join(compared.doubts) or "The runs have no worst case in common: there is nothing to compare."
        )
    exact, operations = compared.way == "exact", compared.operations
    of = f"; {operations.changed:,} of {operations.joined:,} operations changed" if operations else ""
    if compared.status == "equal":
        return f"{'equal to the cycle' if exact else 'no difference beyond the budgets'}{of}"
    for finding in ("worse", "better", "chance"):
        leading = next((worst for worst in compared.worst if worst.finding == finding), None)
        if leading:
            return f"{worst_sentence(leading)}{of}"
    return f"no worst case {'changed' if exact else 'differs beyond the budgets'}{of}"


def overall(comparison: Comparison) -> str:
    """All pairs in one sentence."""
    if len(comparison.compared) == 1 and not comparison.unreadable:
        return headline(comparison.compared[0])
    counts = Counter(comparison.status for comparison in comparison.compared)
    if not comparison.compared:
        return (
            f"No run of {comparison.a.path} has its like in {comparison.b.path}: there is nothing to compare."
        )
    sentence = ", ".join(f"{counts[status]:,} {status}" for status in WORST_FIRST if counts[status])
    unread = f"; not readable: {len(comparison.unreadable):,}" if comparison.unreadable else ""
    return f"Pairs of runs: {sentence}{unread}."


def described(stored: Stored) -> str:
    """A run by what it was and where it is."""
    manifest = stored.manifest
    verdict = "" if manifest.complete else f" ({manifest.verdict})"
    return f"{manifest.scenario}, {manifest.configuration}, {manifest.board}: {stored.folder}{verdict}"


def remarks(compared: Compared) -> list[str]:
    """What must be known beside the figures of a pair: how to read the shift, and why there are no
    intervals. What the headline says is left out.
    """
    sentences = [*compared.notes, *(compared.doubts if compared.status != "cannot say" else ())]
    if compared.way == "budgets":
        sentences.append(
            "Shift: the Hodges–Lehmann estimate of B less A. In brackets its "
            f"{100 * CONFIDENCE:g} % interval."
        )
        sentences += dict.fromkeys(each.no_interval for each in compared.distributions if each.no_interval)
    return sentences


def left_out(comparison: Comparison) -> list[str]:
    """The runs that are in no pair, and why."""
    sentences = [
        f"Only in {side}: {described(stored)}"
        for side, only in (("A", comparison.pairing.only_a), ("B", comparison.pairing.only_b))
        for stored in only
    ]
    if older := comparison.pairing.older:
        sentences.append(f"Of runs with the same options the latest is compared; older ones: {older:,}.")
    return [*sentences, *(f"Not compared: {each}" for each in (*comparison.unreadable, *comparison.left_out))]


def worst_sentence(worst: Worst) -> str:
    """`worst interrupt latency: 35.80 → 34.92 µs (−0.88 µs, −2.5 %), operation 311`, of one that is
    worse, better or chance.
    """
    unit = worst.quantity.unit
    ours, theirs = (short(end.value, unit) for end in (worst.a, worst.b) if end)
    place = f"{worst.b}, in A {worst.a}" if worst.moved else f"{worst.b}"
    chance = ", which may be chance: stimuli fell otherwise" if worst.finding == "chance" else ""
    return f"{worst.words}: {ours} → {theirs}{spaced(unit)} ({by(worst)}), {place}{chance}"


def by(worst: Worst) -> str:
    """`−0.88 µs, −2.5 %`."""
    unit, percent = worst.quantity.unit, worst.percent
    change = signed(worst.change or 0, unit) + spaced(unit)
    if percent is None:
        return change
    text = f"{percent:+,.1f}" if abs(percent) >= 0.1 else f"{percent:+.1g}"
    return f"{change}, {text} %".replace("-", "−")


def where(worst: Worst) -> str:
    """`operation 311`, or `operation 12 → 311` if another one is the worst in B."""
    if worst.a is None or worst.b is None:
        return "–"
    return f"{worst.a} → {str(worst.b).removeprefix('operation ')}" if worst.moved else str(worst.b)


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": 2,
        "a": str(comparison.a.path),
        "b": str(comparison.b.path),
        "status": comparison.status,
        "headline": overall(comparison),
        "confidence": CONFIDENCE,
        "pairs": [_pair_document(pair) for pair in comparison.compared],
        "only_a": [_run_document(stored) for stored in comparison.pairing.only_a],
        "only_b": [_run_document(stored) for stored in comparison.pairing.only_b],
        "older": comparison.pairing.older,
        "unreadable": comparison.unreadable,
        "left_out": comparison.left_out,
    }


def _run_document(stored: Stored) -> dict[str, Any]:
    return {
        "folder": str(stored.folder),
        **_figures(stored.manifest, "scenario", "allocator", "configuration", "board", "verdict"),
    }


def _pair_document(pair: Compared) -> dict[str, Any]:
    return {
        "a": _run_document(pair.a),
        "b": _run_document(pair.b),
        **_figures(pair, "paired_by", "way", "status", "doubts", "notes"),
        "headline": headline(pair),
        "worst": [{**_plain(worst), **_figures(worst, "change", "percent", "moved")} for worst in pair.worst],
        **_figures(pair, "settings", "operations", "placements", "distributions"),
    }


def _figures(of: object, *names: str) -> dict[str, Any]:
    return {name: _plain(getattr(of, name)) for name in names}


def _plain(value: Any) -> Any:
    """What JSON has of figures: of a quantity its key, of records their fields."""
    if isinstance(value, Quantity):
        return value.key
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value):
        return _figures(value, *(field.name for field in fields(value)))
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
