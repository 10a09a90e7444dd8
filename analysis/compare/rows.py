"""The tables of a comparison as text, for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.compare.compared import Compared
from analysis.compare.operations import Changed, Moved, Operations
from analysis.compare.sentences import by, headline, where
from analysis.compare.settings import Change, settings
from analysis.compare.settings import short as cut
from analysis.compare.values import short, signed
from analysis.compare.worst import Distribution, Worst
from base.microseconds import with_unit
from base.run_folder.quantities import REFUSED, SERVED

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
_ORDER = ("worse", "cannot say", "not worse", "equal")
_OPTIONS = ("parameter", "seed", "stimulus", "records", "board", "samplerate")
_FINDINGS = {"chance": "chance may do that", "not told": _MISSING}

_OF_SAMPLES = ("n", "median", "p99", "max")


@dataclass(frozen=True)
class Rows:
    """`headings` and each of `lines` include the first column. `numbers` are the columns with
    numbers, by their place from 0.
    """

    title: str
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()

    def titled(self, title: str) -> Rows:
        """The same under another title."""
        return replace(self, title=title)


def of_settings(changes: Sequence[Change]) -> Rows:
    """The settings that differ."""
    lines = ((change.name, cut(change.a), cut(change.b)) for change in changes)
    return Rows("Settings that differ", ("setting", "A", "B"), tuple(lines))


def of_worst_cases(cases: Sequence[Worst]) -> Rows:
    """A line for each worst case."""
    headings = ("worst case", "A", "B", "change", "budget", "finding", "where")
    lines = (
        (
            with_unit(worst.words, worst.quantity.unit),
            *(
                _MISSING if end is None else end.at_least + short(end.value, worst.quantity.unit)
                for end in (worst.a, worst.b)
            ),
            _MISSING if worst.change is None or worst.finding in ("equal", "not told") else by(worst),
            _MISSING
            if worst.budget is None
            else "none"
            if not worst.budget
            else f"± {short(worst.budget, worst.quantity.unit)}",
            _FINDINGS.get(worst.finding, worst.finding),
            where(worst),
        )
        for worst in cases
    )
    return Rows("Worst cases", headings, tuple(lines), frozenset((1, 2, 3, 4)))


def of_operations(operations: Operations) -> Rows:
    """A line for each column that is compared operation by operation."""
    headings = ("by operation", "changed", "first", "largest increase", "largest decrease", "sum")
    lines = (
        (
            with_unit(change.column.words, change.column.unit),
            f"{change.changed:,}",
            _MISSING if change.first is None else f"{change.first.seq:,}",
            _moved(change.increase, change.column.unit),
            _moved(change.decrease, change.column.unit),
            signed(change.total, change.column.unit) if change.changed else _MISSING,
        )
        for change in operations.columns
    )
    return Rows("Operation by operation", headings, tuple(lines), frozenset(range(1, 6)))


def of_kinds(operations: Operations) -> Rows:
    """A line for each outcome that operations had in A."""
    headings = ("outcome in A", "operations", "changed", "cycles of all their critical sections")
    lines = (
        (_KINDS[kind.kind], f"{kind.n:,}", f"{kind.changed:,}", signed(kind.dwt_cycles, "cycles"))
        for kind in operations.kinds
    )
    return Rows("By outcome", headings, tuple(lines), frozenset((1, 2, 3)))


def of_distributions(compared: Compared) -> Rows:
    """A line for each quantity that both have, with the effect where it is estimated."""
    effects = ("Cliff's delta", "shift") if compared.way == "budgets" else ()
    headings = ("all samples, A → B", *_OF_SAMPLES, *effects)
    lines = (
        (
            with_unit(distribution.quantity.words, distribution.quantity.unit),
            f"{distribution.a.n:,}"
            if distribution.a.n == distribution.b.n
            else f"{distribution.a.n:,} → {distribution.b.n:,}",
            *(_both(distribution, name) for name in _OF_SAMPLES[1:]),
            *(_effect(distribution) if effects else ()),
        )
        for distribution in _shown(compared.distributions)
    )
    return Rows("All samples", headings, tuple(lines), frozenset(range(1, len(headings))))


def of_pairs(compared: Sequence[Compared]) -> Rows:
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
    return Rows("Pairs of runs", ("status", "scenario", "configuration", "what"), tuple(lines))


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
    ends = "; ".join(
        f"{word}: {_operation(move)}, {short(move.a, 'cycles')} → {short(move.b, 'cycles')} cycles"
        for word, move in (
            ("most more", changed.increase_met_alike),
            ("most less", changed.decrease_met_alike),
        )
        if move is not None
    )
    opening = f"Critical sections met by as many interrupts in both: {changed.met_alike:,} changed"
    return f"{opening}; {ends}" if ends else opening


def _operation(move: Moved) -> str:
    what = f"{_KINDS[move.kind]} of {move.size:,} bytes" if move.kind in "AOF" else _KINDS[move.kind]
    label = f", {move.label}" if move.label else ""
    return f"operation {move.seq:,} ({what}{label})"


def _moved(move: Moved | None, unit: str) -> str:
    return _MISSING if move is None else f"{signed(move.change, unit)} at {move.seq:,}"


def _shown(every: Sequence[Distribution]) -> list[Distribution]:
    """The distributions to show: without refused requests, served ones need no rows."""
    keys = {distribution.quantity.key for distribution in every}
    refused = any(quantity.key in keys for quantity in REFUSED)
    served = {quantity.key for quantity in SERVED}
    return [distribution for distribution in every if refused or distribution.quantity.key not in served]


def _both(distribution: Distribution, statistic: str) -> str:
    ours, theirs = (
        _MISSING
        if (value := getattr(end, statistic)) is None
        else (end.at_least if statistic == "max" else "") + short(value, distribution.quantity.unit)
        for end in (distribution.a, distribution.b)
    )
    return ours if ours == theirs else f"{ours} → {theirs}"


def _effect(distribution: Distribution) -> tuple[str, str]:
    if distribution.effect is None:
        return _MISSING, _MISSING
    unit = distribution.quantity.unit
    delta, shift = f"{distribution.effect.delta:+.3f}", signed(distribution.effect.shift, unit)
    if distribution.no_interval:
        return delta, shift
    (least, most), (low, high) = distribution.effect.delta_interval, distribution.effect.shift_interval
    return f"{delta} [{least:+.2f}, {most:+.2f}]", f"{shift} [{signed(low, unit)}, {signed(high, unit)}]"


def _rank(comparison: Compared) -> tuple[int, str, str]:
    manifest = comparison.a.manifest
    return _ORDER.index(comparison.status), manifest.scenario, manifest.configuration


def _apart(comparison: Compared, every: Sequence[Compared]) -> Iterator[str]:
    """The words that tell a pair from others alike, such as `depth=64` or `desk`."""
    like = [settings(each.a.manifest) for each in every if _rank(each)[1:] == _rank(comparison)[1:]]
    for name, value in settings(comparison.a.manifest).items():
        if name.startswith(_OPTIONS) and len({each.get(name) for each in like}) > 1:
            yield f"{name.removeprefix('parameter ')}={value}"
