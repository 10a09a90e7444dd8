"""Two runs beside each other: settings, operations, worst cases, distributions.

In sentences A reads before B (docs/how-to/compare.md). The document:

**Ways.** `exact`: both runs are of the virtual board (`tools` has `virtual_nucleo`, `imported` is
null), at one samplerate; each difference counts. `budgets`: all others; the budget of a difference
is the sum of both runs' (`error_budget`, *total*).

    schema                        1
    a, b                          the folders, as they were given
    status                        of all pairs, below
    headline                      one sentence
    confidence                    of the intervals
    pairs [{
      a, b {folder, scenario, allocator, configuration, board, verdict, operations}
      paired_by                   "given", "options" or "scenario"
      way                         "exact" or "budgets"
      status, headline
      doubts[]                    sentences on why B cannot be judged
      notes[]                     sentences that must be known beside the figures
      settings [{name, a, b, tool}]
      worst [{quantity, unit, a, b {value, seq, kind, size, label, times}, change, percent, budget,
              chance_p, moved, finding, sentence}]
      operations {joined, only_a, only_b, changed, first, other_outcome[], met_otherwise,
                  columns [{column, words, unit, changed, total, first, increase, decrease,
                            met_alike {changed, total, first, increase, decrease}}]
                  kinds [{kind, n, changed, dwt_cycles}]}
      placements [{quantity, unit, a, b {n, least, median, greatest}, smaller_than_placement}]
      distributions [{quantity, unit, a, b {n, min, mean, …, max}, budget, delta, shift,
                      delta_interval, shift_interval, no_interval, undecided, beyond}]
    }]
    only_a[], only_b[]            runs without a partner, as a and b above
    older_a, older_b              how many runs a later one with the same options stands for
    unreadable[], left_out[]      sentences

- *settings* are those that differ; null is what a run does not tell. *tool* is true of the version
  of a tool of the host.
- *worst* has the maxima of `section_ns`, `critical_ns`, `free_critical_ns`, `interrupt_latency_ns`,
  `task_latency_ns`, `control_latency_ns`, `dwt_cycles`, `free_dwt_cycles` and `probes` (run.json),
  of those that a run has. *change* is B less A, *percent* of A. *seq* is null outside all
  operations. *moved*: another operation is the worst.
- *finding*: `equal`; `within the budgets`; `better` or `worse`; `chance`: beyond the budget, but
  not surely more than chance; `not told`: a run has no sample, or no budget.
- *operations* is null if the images differ: the SHA-256 of their entries, or `image_crc32` if a
  folder has no image. It is joined by `seq`. A column that is null in all rows of a run is left
  out.
- *changed* of operations: another outcome, or a column that differs by more than its budget; the
  whole operation on the wire has that of the critical section.
- *first*, *increase* and *decrease* are null or `{seq, kind, size, label, a, b, change}`; *total*
  is the sum of all changes.
- *met_otherwise* counts the changed ones with another `isr_hits` or `control_hits`; *met_alike* is
  of the others.
- *kinds* is by the outcome in A; its *dwt_cycles* is the sum of all changes.
- *placements* has the worst cases of runs that both have `placements.json`.
  *smaller_than_placement*: they differ, and the ranges meet; then *notes* has a sentence.
- *delta* and *shift* (Cliff, Hodges–Lehmann) are of B against A, null on the way `exact`. The
  intervals are null if *no_interval* says why. *beyond*: the interval of the shift, or the shift if
  there is none, lies outside plus or minus *budget*, and *undecided* is 0.
- *undecided* is of the latencies that are split by what was hit. It counts the interrupts of both
  runs of which the wire does not tell whether they belong (interrupts). It is 0 if the medians
  differ by more than the budget however these are decided. If they hide a difference, *notes* has a
  sentence. No worst case has such samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import polars as pl

from analysis.compare import pairing as of_run
from analysis.compare import settings
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
from analysis.compare.pairing import Pair, Pairing, Run, SideRuns, Stored, find, pair
from analysis.compare.settings import Change
from base.files.errors import TailscopeError
from base.metrology.summaries import CONFIDENCE
from base.run_folder.quantities import QUANTITIES

Status = Literal["equal", "not worse", "worse", "cannot say"]
WORST_FIRST: tuple[Status, ...] = ("worse", "cannot say", "not worse", "equal")
Way = Literal["exact", "budgets"]


@dataclass(frozen=True, eq=False)
class Compared:
    """Two runs, A and B, and what came of comparing them.

    `way` is `exact` where both are of the virtual board, captured at one samplerate: then each
    difference counts. Otherwise differences up to the error budgets mean nothing. `operations` is
    None where the runs did not run the same operations. `placements` is empty unless the images of
    both were linked several times.
    """

    pair: Pair
    a: Run
    b: Run
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
                reasons = " ".join([f"{run.stored.folder}: is {manifest.verdict}.", *manifest.reasons])
                sentences.append(reasons)
            if run.contradiction:
                sentences.append(run.contradiction)
        return tuple(sentences)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences on why nothing can be said of B against A; empty where something can."""
        return self.unbelieved + tuple(
            f"{worst.words}: a run does not tell how wrong it may be; ./lab redecode it."
            for worst in self.worst
            if worst.finding == "not told" and worst.budget is None
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what must be known beside the figures."""
        return tuple(_notes(self))

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
    a, b = of_run.read(pair.a), of_run.read(pair.b)
    exact = a.manifest.exact and b.manifest.exact and a.manifest.samplerate_hz == b.manifest.samplerate_hz
    same = of_run.same_operations(a, b)
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
        pair=pair,
        a=a,
        b=b,
        way="exact" if exact else "budgets",
        settings=settings.changes(a.manifest, b.manifest),
        operations=compare_operations(a, b, by_column) if same else None,
        worst=worst,
        distributions=distributions(a, b, exact),
        placements=placed(
            a.ranges, b.ranges, [each.quantity.key for each in worst if each.finding == "equal"]
        ),
    )


def _equal(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    names = [
        name
        for name in ours.columns
        if name in theirs.columns and ours[name].count() and theirs[name].count()
    ]
    return ours.select(names).equals(theirs.select(names))


def _notes(compared: Compared) -> Iterator[str]:
    a, b = compared.a.manifest, compared.b.manifest
    if compared.operations is None:
        yield (
            "The runs did not run the same operations, so no operation has its like in the other run: worst "
            "cases and distributions are compared, and no single operation."
        )
    if compared.way == "budgets" and a.exact and b.exact:
        yield "The runs were sampled at different rates, so the wire is compared within the error budgets."
    yield from (ranges.sentence() for ranges in compared.placements if ranges.smaller)
    for distribution in compared.distributions:
        if distribution.hidden:
            yield (
                f"{distribution.quantity.words}: the difference lies within what {distribution.undecided:,} "
                "undecided interrupts may do, of which the wire does not tell what they hit."
            )
    for worst in compared.worst:
        if worst.a is None or worst.b is None:
            run = "A" if worst.a is None else "B"
            yield f"Not compared, since run {run} has no sample of it: {worst.words}."
    if (
        compared.operations
        and compared.status != "equal"
        and all(change.tool for change in compared.settings)
    ):
        # They differ although the same code ran on the same settings.
        same = "Firmware, operations and settings are the same"
        if compared.way == "exact":
            yield (
                f"{same}, and a virtual board repeats itself: so the virtual board is another one, or what "
                "counts and decodes."
            )
        else:
            yield f"{same}: so the board, the bench or chance differs; `./lab twin` looks for a cause."


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came out. `unreadable` are sentences on runs that should have been compared."""

    a: SideRuns
    b: SideRuns
    pairing: Pairing
    compared: tuple[Compared, ...]
    unreadable: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences on runs that are no matter here."""
        return tuple(dict.fromkeys((*self.a.left_out, *self.b.left_out)))

    @property
    def status(self) -> Status:
        """The worst of all pairs. A run that could not be read leaves nothing equal."""
        statuses = {comparison.status for comparison in self.compared}
        if self.unreadable or not statuses:
            statuses.add("cannot say")
        return min(statuses, key=WORST_FIRST.index)


def compare(a: Path, b: Path, tell: Callable[[str], None] = lambda _: None) -> Comparison:
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
    return Comparison(ours, theirs, pairing, tuple(compared), tuple(dict.fromkeys(unreadable)))


def headline(compared: Compared) -> str:
    """One pair in one sentence."""
    if compared.status == "cannot say":
        return (
            " ".join(compared.doubts) or "The runs have no worst case in common: there is nothing to compare."
        )
    if compared.status == "equal":
        n = compared.operations.joined if compared.operations else 0
        what = "equal to the cycle" if compared.way == "exact" else "no difference beyond the budgets"
        return f"{what}, {_counted(n, 'operation')}"
    for finding in ("worse", "better", "chance"):
        leading = next((worst for worst in compared.worst if worst.finding == finding), None)
        if leading:
            return f"{worst_sentence(leading)}{_of_operations(compared)}"
    exact = compared.way == "exact"
    what = "no worst case changed" if exact else "no difference beyond the budgets in a worst case"
    return f"{what}{_of_operations(compared)}"


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
    unread = (
        f"; {_counted(len(comparison.unreadable), 'run')} could not be read" if comparison.unreadable else ""
    )
    return f"{_counted(len(comparison.compared), 'pair')} of runs: {sentence}{unread}."


def described(stored: Stored) -> str:
    """A run by what it was and where it is."""
    manifest = stored.manifest
    verdict = "" if manifest.complete else f" ({manifest.verdict})"
    return f"{manifest.scenario}, {manifest.configuration}, {manifest.board}: {stored.folder}{verdict}"


def remarks(compared: Compared) -> list[str]:
    """What must be known beside the figures of a pair; what the headline says is left out."""
    sentences = []
    if compared.pair.by == "scenario":
        sentences.append("Their options differ; each is the only run left of its scenario.")
    return [*sentences, *compared.notes, *(compared.doubts if compared.status != "cannot say" else ())]


def effects(compared: Compared) -> list[str]:
    """How to read the effects that are estimated, and why there are no intervals."""
    if compared.way == "exact":
        return []
    return [
        "Cliff's delta: the share of pairs in which B's sample is greater, less that in which A's is. "
        f"Shift: the Hodges–Lehmann estimate of B less A. In brackets {100 * CONFIDENCE:g} % intervals.",
        *dict.fromkeys(
            distribution.no_interval for distribution in compared.distributions if distribution.no_interval
        ),
    ]


def left_out(comparison: Comparison) -> list[str]:
    """The runs that are in no pair, and why."""
    return [
        *(f"Only in A: {described(stored)}" for stored in comparison.pairing.only_a),
        *(f"Only in B: {described(stored)}" for stored in comparison.pairing.only_b),
        *(
            f"Of {side} {_counted(count, 'older run')} with the same options "
            f"{'is' if count == 1 else 'are'} not compared."
            for side, count in (("A", comparison.pairing.older["a"]), ("B", comparison.pairing.older["b"]))
            if count
        ),
        *(f"Not compared: {sentence}" for sentence in (*comparison.unreadable, *comparison.left_out)),
    ]


def worst_sentence(worst: Worst) -> str:
    """`worst interrupt latency: 35.80 → 34.92 µs (−0.88 µs, −2.5 %), operation 311`."""
    if worst.a is None or worst.b is None or worst.change is None:
        return f"{worst.words}: not told by both"
    unit = spaced(worst.quantity.unit)
    ours, theirs = (end.at_least + short(end.value, worst.quantity.unit) for end in (worst.a, worst.b))
    place = f"{worst.b}, in A {worst.a}" if worst.moved else f"{worst.b}"
    if worst.finding == "equal":
        return f"{worst.words}: {ours}{unit} in both, {place}"
    sentence = f"{worst.words}: {ours} → {theirs}{unit} ({by(worst)}), {place}"
    if worst.finding == "within the budgets":
        budget = short(worst.budget or 0, worst.quantity.unit)
        return f"{sentence}: no difference beyond the budgets (± {budget}{unit})"
    return (
        f"{sentence}, which may be chance: stimuli fell otherwise" if worst.finding == "chance" else sentence
    )


def by(worst: Worst) -> str:
    """`−0.88 µs, −2.5 %`."""
    change, percent = signed(worst.change or 0, worst.quantity.unit), worst.percent
    change += spaced(worst.quantity.unit)
    if percent is None:
        return change
    text = f"{percent:+,.1f}" if abs(percent) >= 0.1 else f"{percent:+.1g}"
    return f"{change}, {text} %".replace("-", "−")


def where(worst: Worst) -> str:
    """`operation 311`, or `operation 12 → 311` if another one is the worst in B."""
    if worst.a is None or worst.b is None:
        return "–"
    return f"{worst.a} → {str(worst.b).removeprefix('operation ')}" if worst.moved else str(worst.b)


def _of_operations(compared: Compared) -> str:
    operations = compared.operations
    if operations is None:
        return ""
    changed = f"{operations.changed:,}" if operations.changed else "none"
    return f"; {changed} of {_counted(operations.joined, 'operation')} changed"


def _counted(n: int, word: str) -> str:
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


SCHEMA = 1


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "a": str(comparison.a.path),
        "b": str(comparison.b.path),
        "status": comparison.status,
        "headline": overall(comparison),
        "confidence": CONFIDENCE,
        "pairs": [_pair_document(pair) for pair in comparison.compared],
        "only_a": [_run_document(stored) for stored in comparison.pairing.only_a],
        "only_b": [_run_document(stored) for stored in comparison.pairing.only_b],
        "older_a": comparison.pairing.older["a"],
        "older_b": comparison.pairing.older["b"],
        "unreadable": comparison.unreadable,
        "left_out": comparison.left_out,
    }


def _run_document(stored: Stored) -> dict[str, Any]:
    names = ("scenario", "allocator", "configuration", "board")
    return {"folder": str(stored.folder), **{name: getattr(stored.manifest, name) for name in names}}


def _pair_document(pair: Compared) -> dict[str, Any]:
    sides = {
        side: {
            **_run_document(run.stored),
            "verdict": run.manifest.verdict,
            "operations": run.operations.height,
        }
        for side, run in (("a", pair.a), ("b", pair.b))
    }
    worst_names = ("change", "percent", "budget", "chance_p", "moved", "finding")
    return {
        **sides,
        "paired_by": pair.pair.by,
        "way": pair.way,
        "status": pair.status,
        "headline": headline(pair),
        "doubts": pair.doubts,
        "notes": pair.notes,
        "settings": [asdict(change) for change in pair.settings],
        "worst": [
            {
                "quantity": worst.quantity.key,
                "unit": worst.quantity.unit,
                "a": worst.a and asdict(worst.a),
                "b": worst.b and asdict(worst.b),
                **{name: getattr(worst, name) for name in worst_names},
                "sentence": worst_sentence(worst),
            }
            for worst in pair.worst
        ],
        "operations": pair.operations and asdict(pair.operations),
        "placements": [each.as_json() for each in pair.placements],
        "distributions": [_distribution_document(each) for each in pair.distributions],
    }


def _distribution_document(distribution: Distribution) -> dict[str, Any]:
    effect = asdict(distribution.effect) if distribution.effect else {}
    intervals = {} if distribution.no_interval else effect
    return {
        "quantity": distribution.quantity.key,
        "unit": distribution.quantity.unit,
        "a": distribution.a.model_dump(),
        "b": distribution.b.model_dump(),
        "budget": distribution.budget,
        **{name: effect.get(name) for name in ("delta", "shift")},
        **{name: intervals.get(name) for name in ("delta_interval", "shift_interval")},
        "no_interval": distribution.no_interval or None,
        "undecided": distribution.undecided,
        "beyond": distribution.beyond,
    }
