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
    lines = ((one.name, cut(one.a), cut(one.b)) for one in changes)
    return Rows("Settings that differ", ("setting", "A", "B"), tuple(lines))


def of_worst_cases(worst: Sequence[Worst]) -> Rows:
    """A line for each worst case."""
    headings = ("worst case", "A", "B", "change", "budget", "finding", "where")
    lines = (
        (
            with_unit(one.words, one.quantity.unit),
            *(
                _MISSING if end is None else end.at_least + short(end.value, one.quantity.unit)
                for end in (one.a, one.b)
            ),
            _MISSING if one.change is None or one.finding in ("equal", "not told") else by(one),
            _MISSING
            if one.budget is None
            else "none"
            if not one.budget
            else f"± {short(one.budget, one.quantity.unit)}",
            _FINDINGS.get(one.finding, one.finding),
            where(one),
        )
        for one in worst
    )
    return Rows("Worst cases", headings, tuple(lines), frozenset((1, 2, 3, 4)))


def of_operations(found: Operations) -> Rows:
    """A line for each column that is compared operation by operation."""
    headings = ("by operation", "changed", "first", "largest increase", "largest decrease", "sum")
    lines = (
        (
            with_unit(one.column.words, one.column.unit),
            f"{one.changed:,}",
            _MISSING if one.first is None else f"{one.first.seq:,}",
            _moved(one.increase, one.column.unit),
            _moved(one.decrease, one.column.unit),
            signed(one.total, one.column.unit) if one.changed else _MISSING,
        )
        for one in found.columns
    )
    return Rows("Operation by operation", headings, tuple(lines), frozenset(range(1, 6)))


def of_kinds(found: Operations) -> Rows:
    """A line for each outcome that operations had in A."""
    headings = ("outcome in A", "operations", "changed", "cycles of all their critical sections")
    lines = (
        (_KINDS[kind.kind], f"{kind.n:,}", f"{kind.changed:,}", signed(kind.dwt_cycles, "cycles"))
        for kind in found.kinds
    )
    return Rows("By outcome", headings, tuple(lines), frozenset((1, 2, 3)))


def of_distributions(compared: Compared) -> Rows:
    """A line for each quantity that both have, with the effect where it is estimated."""
    effects = ("Cliff's delta", "shift") if compared.way == "budgets" else ()
    headings = ("all samples, A → B", *_OF_SAMPLES, *effects)
    lines = (
        (
            with_unit(one.quantity.words, one.quantity.unit),
            f"{one.a.n:,}" if one.a.n == one.b.n else f"{one.a.n:,} → {one.b.n:,}",
            *(_both(one, name) for name in _OF_SAMPLES[1:]),
            *(_effect(one) if effects else ()),
        )
        for one in _shown(compared.distributions)
    )
    return Rows("All samples", headings, tuple(lines), frozenset(range(1, len(headings))))


def of_pairs(compared: Sequence[Compared]) -> Rows:
    """A line for each pair, the worst first."""
    lines = (
        (
            one.status,
            " ".join((one.a.manifest.scenario, *_apart(one, compared))),
            " → ".join(dict.fromkeys(run.manifest.configuration for run in (one.a, one.b))),
            headline(one),
        )
        for one in sorted(compared, key=_rank)
    )
    return Rows("Pairs of runs", ("status", "scenario", "configuration", "what"), tuple(lines))


def operations_sentence(found: Operations) -> str:
    """How many operations changed, the first of them, and how many other interrupts met."""
    sentence = f"Operations: the same {found.joined:,} in both; {found.changed:,} changed"
    if found.changed:
        sentence += f", the first is {found.first:,}"
    if found.met_otherwise:
        sentence += f"; {found.met_otherwise:,} of these were met by more or fewer interrupts than in A"
    if found.only_a or found.only_b:
        sentence += f"; {found.only_a:,} are only in A, {found.only_b:,} only in B"
    return f"{sentence}."


def sections_sentence(changed: Changed) -> str:
    """A sentence on the sections that as many interrupts met in both: which changed most."""
    ends = "; ".join(
        f"{word}: {_operation(one)}, {short(one.a, 'cycles')} → {short(one.b, 'cycles')} cycles"
        for word, one in (
            ("most more", changed.increase_met_alike),
            ("most less", changed.decrease_met_alike),
        )
        if one is not None
    )
    opening = f"Critical sections met by as many interrupts in both: {changed.met_alike:,} changed"
    return f"{opening}; {ends}" if ends else opening


def _operation(one: Moved) -> str:
    what = f"{_KINDS[one.kind]} of {one.size:,} bytes" if one.kind in "AOF" else _KINDS[one.kind]
    label = f", {one.label}" if one.label else ""
    return f"operation {one.seq:,} ({what}{label})"


def _moved(one: Moved | None, unit: str) -> str:
    return _MISSING if one is None else f"{signed(one.change, unit)} at {one.seq:,}"


def _shown(every: Sequence[Distribution]) -> list[Distribution]:
    """The distributions to show: without refused requests, served ones need no rows."""
    told = {one.quantity.key for one in every}
    refused = any(one.key in told for one in REFUSED)
    served = {one.key for one in SERVED}
    return [one for one in every if refused or one.quantity.key not in served]


def _both(one: Distribution, statistic: str) -> str:
    ours, theirs = (
        _MISSING
        if (value := getattr(end, statistic)) is None
        else (end.at_least if statistic == "max" else "") + short(value, one.quantity.unit)
        for end in (one.a, one.b)
    )
    return ours if ours == theirs else f"{ours} → {theirs}"


def _effect(one: Distribution) -> tuple[str, str]:
    if one.effect is None:
        return _MISSING, _MISSING
    unit = one.quantity.unit
    delta, shift = f"{one.effect.delta:+.3f}", signed(one.effect.shift, unit)
    if one.no_interval:
        return delta, shift
    (least, most), (low, high) = one.effect.delta_interval, one.effect.shift_interval
    return f"{delta} [{least:+.2f}, {most:+.2f}]", f"{shift} [{signed(low, unit)}, {signed(high, unit)}]"


def _rank(one: Compared) -> tuple[int, str, str]:
    manifest = one.a.manifest
    return _ORDER.index(one.status), manifest.scenario, manifest.configuration


def _apart(one: Compared, every: Sequence[Compared]) -> Iterator[str]:
    """The words that tell a pair from others alike, such as `depth=64` or `desk`."""
    like = [settings(each.a.manifest) for each in every if _rank(each)[1:] == _rank(one)[1:]]
    for name, value in settings(one.a.manifest).items():
        if name.startswith(_OPTIONS) and len({each.get(name) for each in like}) > 1:
            yield f"{name.removeprefix('parameter ')}={value}"
