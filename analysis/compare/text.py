"""A comparison for the terminal: the headline first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analysis.compare.compared import Compared
from analysis.compare.comparison import Comparison
from analysis.compare.distributions import Distribution
from analysis.compare.found import Stored
from analysis.compare.operations import Changed, Moved, Operations
from analysis.compare.sentences import by, headline, overall, signed, where, whole, worst_sentence
from analysis.compare.settings import Change, settings
from analysis.compare.worst import Worst
from analysis.metrology.intervals import CONFIDENCE
from capture.run_folder.quantities import REFUSED, SERVED

_WIDTH_COLUMNS = 120
_MISSING = "–"
_DIGEST = 12
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


def as_text(found: Comparison) -> str:
    """The headline; one pair in full, or a table of several and what got worse; the rest."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        for part in _parts(found):
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _parts(found: Comparison) -> Iterator[RenderableType]:
    yield overall(found)
    if len(found.compared) == 1:
        yield from _one(found.compared[0])
    elif found.compared:
        yield ""
        yield _table_of_pairs(found.compared)
        yield from _worse(found.compared)
    yield from _left_out(found)


def _one(compared: Compared) -> Iterator[RenderableType]:
    a, b = compared.a, compared.b
    yield ""
    yield f"A: {_named(a.stored)}"
    yield f"B: {_named(b.stored)}"
    yield from (Padding(note, (0, 0, 0, 3)) for note in (*_how_paired(compared), *compared.notes))
    if compared.status != "cannot say":
        yield from compared.doubts
    yield ""
    yield from _changes(compared.settings)
    if compared.worst:
        yield ""
        yield _worst_cases(compared.worst)
    if compared.operations:
        yield ""
        yield from _operations(compared.operations)
    if compared.distributions:
        yield ""
        yield from _distributions(compared)


def _how_paired(compared: Compared) -> Iterator[str]:
    if compared.pair.by == "scenario":
        yield "Their options differ; each is the only run left of its scenario."


def _named(stored: Stored) -> str:
    manifest = stored.manifest
    verdict = "" if manifest.complete else f" ({manifest.verdict})"
    return f"{manifest.scenario}, {manifest.configuration}, {manifest.board}: {stored.folder}{verdict}"


def _changes(changes: Sequence[Change]) -> Iterator[RenderableType]:
    if not changes:
        yield "Settings: the same, as far as run.json tells"
        return
    table = _table("setting", "A", "B")
    for one in changes:
        table.add_row(one.name, _setting(one.a), _setting(one.b))
    yield table


def _setting(value: str | None) -> Text:
    if value is None:
        return Text(_MISSING)
    is_digest = len(value) == 64 and set(value) <= set("0123456789abcdef")
    return Text(f"{value[:_DIGEST]}…" if is_digest else value)


def _worst_cases(worst: Sequence[Worst]) -> Table:
    table = _table("worst case", numbers=("A", "B", "change", "budget"))
    table.add_column("finding")
    table.add_column("where")
    for one in worst:
        unit = f" {one.quantity.unit}" if one.quantity.unit else ""
        table.add_row(
            f"{one.words}{f' ({unit.strip()})' if unit else ''}",
            *(_MISSING if end is None else whole(end.value) for end in (one.a, one.b)),
            _MISSING if one.change is None or one.finding == "equal" else by(one),
            _MISSING if one.budget is None else "0" if not one.budget else f"± {whole(one.budget)}",
            _FINDINGS.get(one.finding, one.finding),
            where(one),
        )
    return table


def _operations(found: Operations) -> Iterator[RenderableType]:
    yield _count_of_operations(found)
    if found.other_outcome:
        yield f"Of another outcome: {_listed(found.other_outcome)}"
    if not found.changed:
        return
    table = _table(
        "by operation", numbers=("changed", "first", "largest increase", "largest decrease", "sum")
    )
    for one in found.columns:
        unit = f" ({one.column.unit})" if one.column.unit else ""
        table.add_row(
            f"{one.column.words}{unit}",
            f"{one.changed:,}",
            _MISSING if one.first is None else f"{one.first.seq:,}",
            _moved(one.increase),
            _moved(one.decrease),
            signed(one.total) if one.changed else _MISSING,
        )
    yield table
    yield from (_largest(one) for one in found.columns if one.column.name == "dwt_cycles" and one.changed)
    kinds = _table("outcome in A", numbers=("operations", "changed", "cycles of all their critical sections"))
    for kind in found.kinds:
        kinds.add_row(_KINDS[kind.kind], f"{kind.n:,}", f"{kind.changed:,}", signed(kind.dwt_cycles))
    yield ""
    yield kinds


def _count_of_operations(found: Operations) -> str:
    sentence = f"Operations: the same {found.joined:,} in both; {found.changed:,} changed"
    if found.changed:
        sentence += f", the first is {found.first:,}"
    if found.met_otherwise:
        sentence += f"; {found.met_otherwise:,} of these were met by other interrupts than in A"
    if found.only_a or found.only_b:
        sentence += f"; {found.only_a:,} are only in A, {found.only_b:,} only in B"
    return f"{sentence}."


def _largest(changed: Changed) -> str:
    ends = "; ".join(
        f"{word}: {_operation(one)}, {whole(one.a)} → {whole(one.b)} cycles"
        for word, one in (
            ("most more", changed.increase_met_alike),
            ("most less", changed.decrease_met_alike),
        )
        if one is not None
    )
    opening = f"Critical sections that the same interrupts met: {changed.met_alike:,} changed"
    return f"{opening}; {ends}" if ends else opening


def _operation(one: Moved) -> str:
    what = f"{_KINDS[one.kind]} of {one.size:,} bytes" if one.kind in "AOF" else _KINDS[one.kind]
    label = f", {one.label}" if one.label else ""
    return f"operation {one.seq:,} ({what}{label})"


def _moved(one: Moved | None) -> str:
    return _MISSING if one is None else f"{signed(one.change)} at {one.seq:,}"


def _distributions(compared: Compared) -> Iterator[RenderableType]:
    estimated = compared.way == "budgets"
    table = _table("all samples, A → B", numbers=("n", "median", "p99", "max"))
    if estimated:
        table.add_column("Cliff's delta", justify="right")
        table.add_column("shift", justify="right")
    for one in _shown(compared.distributions):
        unit = f" ({one.quantity.unit})" if one.quantity.unit else ""
        table.add_row(
            f"{one.quantity.words}{unit}",
            *(_both(getattr(one.a, name), getattr(one.b, name)) for name in ("n", "median", "p99", "max")),
            *(_effect(one) if estimated else ()),
        )
    yield table
    if estimated:
        yield (
            "Cliff's delta: the share of pairs in which B's sample is greater, less that in which A's is. "
            f"Shift: the Hodges–Lehmann estimate of B less A. In brackets {100 * CONFIDENCE:g} % intervals."
        )
        yield from dict.fromkeys(one.no_interval for one in compared.distributions if one.no_interval)


def _shown(every: Sequence[Distribution]) -> list[Distribution]:
    """Where no request was refused, the served ones are all, and need no rows of their own."""
    told = {one.quantity.key for one in every}
    refused = any(one.key in told for one in REFUSED)
    served = {one.key for one in SERVED}
    return [one for one in every if refused or one.quantity.key not in served]


def _both(a: float | None, b: float | None) -> str:
    ours, theirs = (_MISSING if value is None else whole(value) for value in (a, b))
    return ours if ours == theirs else f"{ours} → {theirs}"


def _effect(one: Distribution) -> tuple[str, str]:
    if one.effect is None:
        return _MISSING, _MISSING
    delta, shift = f"{one.effect.delta:+.3f}", signed(one.effect.shift)
    if one.no_interval:
        return delta, shift
    (least, most), (low, high) = one.effect.delta_interval, one.effect.shift_interval
    return f"{delta} [{least:+.2f}, {most:+.2f}]", f"{shift} [{signed(low)}, {signed(high)}]"


def _table_of_pairs(compared: Sequence[Compared]) -> Table:
    table = _table("status", "scenario", "configuration")
    table.add_column("what", overflow="fold")
    for one in sorted(compared, key=_rank):
        ours, theirs = one.a.manifest, one.b.manifest
        table.add_row(
            one.status,
            " ".join((ours.scenario, *_apart(one, compared))),
            " → ".join(dict.fromkeys((ours.configuration, theirs.configuration))),
            Text(headline(one)),
        )
    return table


def _rank(one: Compared) -> tuple[int, str, str]:
    manifest = one.a.manifest
    return _ORDER.index(one.status), manifest.scenario, manifest.configuration


def _apart(one: Compared, every: Sequence[Compared]) -> Iterator[str]:
    """What tells a pair from others of the same scenario and configuration: `depth=64`, `desk`."""
    like = [settings(each.a.manifest) for each in every if _rank(each)[1:] == _rank(one)[1:]]
    for name, value in settings(one.a.manifest).items():
        if name.startswith(_OPTIONS) and len({each.get(name) for each in like}) > 1:
            yield f"{name.removeprefix('parameter ')}={value}"


def _worse(compared: Sequence[Compared]) -> Iterator[RenderableType]:
    for one in compared:
        if one.status != "worse":
            continue
        yield ""
        yield f"{one.b.manifest.scenario}, {one.b.manifest.configuration}: {one.b.stored.folder}"
        yield from (f"  {worst_sentence(each)}" for each in one.worst if each.finding == "worse")
        if one.settings:
            yield "  settings: " + "; ".join(
                f"{each.name} {_setting(each.a)} → {_setting(each.b)}" for each in one.settings
            )


def _left_out(found: Comparison) -> Iterator[RenderableType]:
    lines: list[str] = [
        *(f"Only in A: {_named(one)}" for one in found.pairing.only_a),
        *(f"Only in B: {_named(one)}" for one in found.pairing.only_b),
        *(
            f"Of {side} {count:,} older {'run' if count == 1 else 'runs'} with the same options "
            f"{'is' if count == 1 else 'are'} not compared."
            for side, count in (("A", found.pairing.older["a"]), ("B", found.pairing.older["b"]))
            if count
        ),
        *(f"Not compared: {one}" for one in (*found.unreadable, *found.left_out)),
    ]
    if lines:
        yield ""
        yield from lines


def _listed(numbers: Sequence[int], most: int = 8) -> str:
    shown = ", ".join(f"{number:,}" for number in numbers[:most])
    return shown if len(numbers) <= most else f"{shown}, … ({len(numbers):,} in all)"


def _table(*names: str, numbers: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name)
    for name in numbers:
        table.add_column(name, justify="right")
    return table
