"""The tables of a comparison, and the whole of it for the terminal: the headline first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.compare.compared import (
    WORST_FIRST,
    Compared,
    Comparison,
    by,
    described,
    effects,
    headline,
    left_out,
    overall,
    remarks,
    where,
    worst_sentence,
)
from analysis.compare.findings import Changed, Distribution, Moved, Operations, Worst, short, signed
from analysis.compare.settings import Change, settings
from analysis.compare.settings import short as cut
from base.microseconds import with_unit
from base.run_folder.quantities import REFUSED, SERVED
from base.text_table import TextTable, printed

_MISSING = "–"
_KINDS = {
    "A": "allocation",
    "O": "refused allocation",
    "F": "free",
    "N": "nothing to free",
    "E": "refused free",
    "K": "call",
    "S": "skipped",
}
_OPTIONS = ("parameter", "seed", "stimulus", "records", "board", "samplerate")
_FINDINGS = {"chance": "chance may do that", "not told": _MISSING}
WIDE_COLUMNS = 220
"""Of tables with many columns, which name their runs."""


def of_settings(changes: Sequence[Change]) -> TextTable:
    """The settings that differ."""
    lines = ((change.name, cut(change.a), cut(change.b)) for change in changes)
    return TextTable("Settings that differ", ("setting", "A", "B"), tuple(lines))


def of_worst_cases(cases: Sequence[Worst]) -> TextTable:
    """A line for each worst case."""
    lines = []
    for worst in cases:
        unit, budget = worst.quantity.unit, _MISSING
        if worst.budget is not None:
            budget = f"± {short(worst.budget, unit)}" if worst.budget else "none"
        ends = ((end and end.at_least + short(end.value, unit)) or _MISSING for end in (worst.a, worst.b))
        changed = worst.change is not None and worst.finding not in ("equal", "not told")
        finding = _FINDINGS.get(worst.finding, worst.finding)
        change = by(worst) if changed else _MISSING
        lines.append((with_unit(worst.words, unit), *ends, change, budget, finding, where(worst)))
    headings = ("worst case", "A", "B", "change", "budget", "finding", "where")
    return TextTable("Worst cases", headings, tuple(lines), range(1, 5))


def of_operations(operations: Operations) -> TextTable:
    """A line for each column that is compared operation by operation."""

    def moved(move: Moved | None, unit: str) -> str:
        return _MISSING if move is None else f"{signed(move.change, unit)} at {move.seq:,}"

    headings = ("by operation", "changed", "first", "largest increase", "largest decrease", "sum")
    lines = (
        (
            with_unit(change.words, change.unit),
            f"{change.changed:,}",
            _MISSING if change.first is None else f"{change.first.seq:,}",
            moved(change.increase, change.unit),
            moved(change.decrease, change.unit),
            signed(change.total, change.unit) if change.changed else _MISSING,
        )
        for change in operations.columns
    )
    return TextTable("Operation by operation", headings, tuple(lines), range(1, 6))


def of_kinds(operations: Operations) -> TextTable:
    """A line for each outcome that operations had in A."""
    headings = ("outcome in A", "operations", "changed", "cycles of all their critical sections")
    lines = (
        (_KINDS[kind.kind], f"{kind.n:,}", f"{kind.changed:,}", signed(kind.dwt_cycles, "cycles"))
        for kind in operations.kinds
    )
    return TextTable("By outcome", headings, tuple(lines), range(1, 4))


def of_distributions(compared: Compared) -> TextTable:
    """A line for each quantity that both have, with the effect where it is estimated. Without
    refused requests, served ones need no lines.
    """
    effects = ("Cliff's delta", "shift") if compared.way == "budgets" else ()
    headings = ("all samples, A → B", "n", "median", "p99", "max", *effects)
    keys = {distribution.quantity.key for distribution in compared.distributions}
    hidden = () if any(quantity.key in keys for quantity in REFUSED) else [each.key for each in SERVED]
    lines = (
        (
            with_unit(distribution.quantity.words, distribution.quantity.unit),
            *(_both(distribution, name) for name in headings[1:5]),
            *(_effect(distribution) if effects else ()),
        )
        for distribution in compared.distributions
        if distribution.quantity.key not in hidden
    )
    return TextTable("All samples", headings, tuple(lines), range(1, len(headings)))


def _both(distribution: Distribution, statistic: str) -> str:
    ends = []
    for summary in (distribution.a, distribution.b):
        value, at_least = getattr(summary, statistic), summary.at_least if statistic == "max" else ""
        unit = "" if statistic == "n" else distribution.quantity.unit
        ends.append(_MISSING if value is None else at_least + short(value, unit))
    return " → ".join(dict.fromkeys(ends))


def _effect(distribution: Distribution) -> tuple[str, str]:
    effect = distribution.effect
    if effect is None:
        return _MISSING, _MISSING
    unit = distribution.quantity.unit
    delta, shift = f"{effect.delta:+.3f}", signed(effect.shift, unit)
    if distribution.no_interval:
        return delta, shift
    (least, most), (low, high) = effect.delta_interval, effect.shift_interval
    return f"{delta} [{least:+.2f}, {most:+.2f}]", f"{shift} [{signed(low, unit)}, {signed(high, unit)}]"


def of_pairs(compared: Sequence[Compared]) -> TextTable:
    """A line for each pair, the worst first."""
    lines = (
        (
            comparison.status,
            " ".join((comparison.a.manifest.scenario, *_apart(comparison, compared))),
            " → ".join(dict.fromkeys(run.manifest.configuration for run in (comparison.a, comparison.b))),
            headline(comparison),
        )
        for comparison in sorted(compared, key=_rank)
    )
    return TextTable("Pairs of runs", ("status", "scenario", "configuration", "what"), tuple(lines))


def _rank(comparison: Compared) -> tuple[int, str, str]:
    manifest = comparison.a.manifest
    return WORST_FIRST.index(comparison.status), manifest.scenario, manifest.configuration


def _apart(comparison: Compared, every: Sequence[Compared]) -> Iterator[str]:
    """The words that tell a pair from others alike, such as `depth=64` or `desk`."""
    like = [settings(each.a.manifest) for each in every if _rank(each)[1:] == _rank(comparison)[1:]]
    for name, value in settings(comparison.a.manifest).items():
        if name.startswith(_OPTIONS) and len({each.get(name) for each in like}) > 1:
            yield f"{name.removeprefix('parameter ')}={value}"


def operations_sentence(operations: Operations) -> str:
    """How many operations changed, the first of them, and how many other interrupts met."""
    sentence = f"Operations: the same {operations.joined:,} in both; {operations.changed:,} changed"
    if operations.changed:
        sentence += f", the first is {operations.first:,}"
    if operations.met_otherwise:
        sentence += f"; {operations.met_otherwise:,} of these were met by more or fewer interrupts than in A"
    if operations.only_a or operations.only_b:
        sentence += f"; {operations.only_a:,} are only in A, {operations.only_b:,} only in B"
    return f"{sentence}."


def sections_sentence(changed: Changed) -> str:
    """A sentence on the sections that as many interrupts met in both: which changed most."""
    sentence = f"Critical sections met by as many interrupts in both: {changed.met_alike.changed:,} changed"
    for word, move in (
        ("most more", changed.met_alike.increase),
        ("most less", changed.met_alike.decrease),
    ):
        if move is not None:
            size = f" of {move.size:,} bytes" if move.kind in "AOF" else ""
            label = f", {move.label}" if move.label else ""
            sentence += f"; {word}: operation {move.seq:,} ({_KINDS[move.kind]}{size}{label}), "
            sentence += f"{short(move.a, 'cycles')} → {short(move.b, 'cycles')} cycles"
    return sentence


def as_text(comparison: Comparison) -> str:
    """The headline; one pair in full, or a table of several and what got worse; the rest."""
    rest = left_out(comparison)
    parts = _pair(*comparison.compared) if len(comparison.compared) == 1 else _several(comparison.compared)
    return printed((overall(comparison), *parts, *([""] if rest else []), *rest))


def _pair(compared: Compared) -> Iterator[str | TextTable]:
    yield ""
    yield f"A: {described(compared.a.stored)}"
    yield f"B: {described(compared.b.stored)}"
    yield from (f"   {note}" for note in remarks(compared))
    if compared.settings:
        yield of_settings(compared.settings)
    else:
        yield "Settings: the same, as far as run.json tells"
    if compared.worst:
        yield of_worst_cases(compared.worst)
    if operations := compared.operations:
        yield from ("", operations_sentence(operations))
        if others := operations.other_outcome:
            more = f", … ({len(others):,} in all)" if len(others) > 8 else ""
            yield f"Of another outcome: {', '.join(f'{number:,}' for number in others[:8])}{more}"
        if operations.changed:
            yield of_operations(operations)
            for change in operations.columns:
                if change.column == "dwt_cycles" and change.changed:
                    yield sections_sentence(change)
            yield of_kinds(operations)
    if compared.distributions:
        yield of_distributions(compared)
        yield from effects(compared)


def _several(compared: Sequence[Compared]) -> Iterator[str | TextTable]:
    if compared:
        yield of_pairs(compared)
    for comparison in compared:
        if comparison.status == "worse":
            run = comparison.b
            yield from ("", f"{run.manifest.scenario}, {run.manifest.configuration}: {run.stored.folder}")
            yield from (f"  {worst_sentence(each)}" for each in comparison.worst if each.finding == "worse")
            if comparison.settings:
                yield "  settings: " + "; ".join(map(str, comparison.settings))
