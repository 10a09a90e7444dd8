"""The tables of a comparison, and the whole of it for the terminal: the headline first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.compare.compared import (
    WORST_FIRST,
    Compared,
    Comparison,
    by,
    described,
    headline,
    left_out,
    overall,
    remarks,
    where,
    worst_sentence,
)
from analysis.compare.findings import Distribution, Moved, Operations, Worst, short, signed
from analysis.compare.settings import Change, cut
from base.microseconds import with_unit
from base.run_folder.quantities import REFUSED, SERVED
from base.text_table import TextTable, printed

_MISSING = "–"
_FINDINGS = {"chance": "chance may do that", "not told": _MISSING}


def of_settings(changes: Sequence[Change]) -> TextTable:
    """The settings that differ."""
    lines = [(change.name, cut(change.a), cut(change.b)) for change in changes]
    return TextTable("Settings that differ", ("setting", "A", "B"), lines)


def of_worst_cases(cases: Sequence[Worst]) -> TextTable:
    """A line for each worst case."""
    lines = []
    for worst in cases:
        unit, budget = worst.quantity.unit, _MISSING
        if worst.budget is not None:
            budget = f"± {short(worst.budget, unit)}" if worst.budget else "none"
        ends = ((end and end.at_least + short(end.value, unit)) or _MISSING for end in (worst.a, worst.b))
        changed = worst.finding not in ("equal", "not told")
        finding = _FINDINGS.get(worst.finding, worst.finding)
        change = by(worst) if changed else _MISSING
        lines.append((with_unit(worst.words, unit), *ends, change, budget, finding, where(worst)))
    headings = ("worst case", "A", "B", "change", "budget", "finding", "where")
    return TextTable("Worst cases", headings, lines, range(1, 5))


def of_operations(operations: Operations) -> TextTable:
    """A line for each column that is compared operation by operation."""

    def moved(move: Moved | None, unit: str) -> str:
        return _MISSING if move is None else f"{signed(move.change, unit)} at {move.seq:,}"

    headings = ("by operation", "changed", "largest increase", "largest decrease", "sum")
    lines = [
        (
            with_unit(change.words, change.unit),
            f"{change.changed:,}",
            moved(change.increase, change.unit),
            moved(change.decrease, change.unit),
            signed(change.total, change.unit) if change.changed else _MISSING,
        )
        for change in operations.columns
    ]
    return TextTable("Operation by operation", headings, lines, range(1, 5))


def of_distributions(compared: Compared) -> TextTable:
    """A line for each quantity that both have, with the effect where it is estimated. Without
    refused requests, served ones need no lines.
    """
    headings = ("all samples, A → B", "n", "median", "p99", "max", "shift")
    quantities = {distribution.quantity for distribution in compared.distributions}
    hidden = () if quantities.intersection(REFUSED) else SERVED
    lines = []
    for distribution in compared.distributions:
        quantity, unit = distribution.quantity, distribution.quantity.unit
        if quantity in hidden:
            continue
        shift = _MISSING if distribution.shift is None else signed(distribution.shift, unit)
        if distribution.shift_interval:
            low, high = distribution.shift_interval
            shift += f" [{signed(low, unit)}, {signed(high, unit)}]"
        both = (_both(distribution, name) for name in headings[1:5])
        lines.append((with_unit(quantity.words, unit), *both, shift))
    return TextTable("All samples", headings, lines, range(1, 6))


def _both(distribution: Distribution, statistic: str) -> str:
    ends = []
    for summary in (distribution.a, distribution.b):
        value, at_least = getattr(summary, statistic), summary.at_least if statistic == "max" else ""
        unit = "" if statistic == "n" else distribution.quantity.unit
        ends.append(_MISSING if value is None else at_least + short(value, unit))
    return " → ".join(dict.fromkeys(ends))


def of_pairs(compared: Sequence[Compared]) -> TextTable:
    """A line for each pair, the worst first."""
    lines = sorted(
        (WORST_FIRST.index(pair.status), pair.b.name, pair.status, headline(pair)) for pair in compared
    )
    return TextTable(
        "Pairs of runs", ("status", "B", "what"), [(line[2], line[1], line[3]) for line in lines]
    )


def operations_sentence(operations: Operations) -> str:
    """How many changed, how many came out otherwise, and how many other interrupts met."""
    sentence = f"Operations: the same {operations.joined:,} in both; {operations.changed:,} changed"
    if operations.changed:
        sentence += (
            f", the first is {operations.first:,}; of these {operations.met_otherwise:,} were met by more or "
            f"fewer interrupts than in A, and {len(operations.other_outcome):,} had another outcome"
        )
    if operations.other_outcome:
        sentence += f", the first is {operations.other_outcome[0]:,}"
    if operations.only_a or operations.only_b:
        sentence += f"; {operations.only_a:,} are only in A, {operations.only_b:,} only in B"
    return f"{sentence}."


def as_text(comparison: Comparison) -> str:
    """The headline; one pair in full, or a table of several and what got worse; the rest."""
    rest = left_out(comparison)
    parts = _pair(*comparison.compared) if len(comparison.compared) == 1 else _several(comparison.compared)
    return printed((overall(comparison), *parts, *([""] if rest else []), *rest))


def _pair(compared: Compared) -> Iterator[str | TextTable]:
    yield ""
    yield f"A: {described(compared.a)}"
    yield f"B: {described(compared.b)}"
    yield from (f"   {note}" for note in remarks(compared))
    if compared.settings:
        yield of_settings(compared.settings)
    else:
        yield "Settings: the same, as far as run.json tells"
    if compared.worst:
        yield of_worst_cases(compared.worst)
    if operations := compared.operations:
        yield from ("", operations_sentence(operations))
        if operations.changed:
            yield of_operations(operations)
    if compared.distributions:
        yield of_distributions(compared)


def _several(compared: Sequence[Compared]) -> Iterator[str | TextTable]:
    if compared:
        yield of_pairs(compared)
    for comparison in compared:
        if comparison.status == "worse":
            run = comparison.b
            yield from ("", f"{run.manifest.scenario}, {run.manifest.configuration}: {run.folder}")
            yield from (f"  {worst_sentence(each)}" for each in comparison.worst if each.finding == "worse")
            if comparison.settings:
                yield "  settings: " + "; ".join(map(str, comparison.settings))
