"""A comparison for the terminal: the headline first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analysis.compare import rows
from analysis.compare.compared import Compared, Comparison
from analysis.compare.operations import Operations
from analysis.compare.rows import Rows
from analysis.compare.sentences import described, effects, left_out, overall, remarks, worst_sentence

_WIDTH_COLUMNS = 120
_WIDE_COLUMNS = 220
"""Of tables with many columns, which name their runs."""


def as_text(comparison: Comparison) -> str:
    """The headline; one pair in full, or a table of several and what got worse; the rest."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        for part in _parts(comparison):
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def printed(parts: Sequence[str | Rows]) -> str:
    """Sentences and tables, each with its title, for a terminal."""
    console = Console(width=_WIDE_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        for part in parts:
            if isinstance(part, Rows):
                console.print("", part.title, _table(part), sep="\n")
            else:
                console.print(part, soft_wrap=True)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _parts(comparison: Comparison) -> Iterator[RenderableType]:
    yield overall(comparison)
    if len(comparison.compared) == 1:
        yield from _one(comparison.compared[0])
    elif comparison.compared:
        yield ""
        yield _table(rows.of_pairs(comparison.compared))
        yield from _worse(comparison.compared)
    rest = left_out(comparison)
    yield from ("", *rest) if rest else ()


def _one(compared: Compared) -> Iterator[RenderableType]:
    yield ""
    yield f"A: {described(compared.a.stored)}"
    yield f"B: {described(compared.b.stored)}"
    yield from (Padding(note, (0, 0, 0, 3)) for note in remarks(compared))
    yield ""
    if compared.settings:
        yield _table(rows.of_settings(compared.settings))
    else:
        yield "Settings: the same, as far as run.json tells"
    if compared.worst:
        yield ""
        yield _table(rows.of_worst_cases(compared.worst))
    if compared.operations:
        yield ""
        yield from _operations(compared.operations)
    if compared.distributions:
        yield ""
        yield _table(rows.of_distributions(compared))
        yield from effects(compared)


def _operations(operations: Operations) -> Iterator[RenderableType]:
    yield rows.operations_sentence(operations)
    if operations.other_outcome:
        yield f"Of another outcome: {_listed(operations.other_outcome)}"
    if not operations.changed:
        return
    yield _table(rows.of_operations(operations))
    yield from (
        rows.sections_sentence(change)
        for change in operations.columns
        if change.column.name == "dwt_cycles" and change.changed
    )
    yield ""
    yield _table(rows.of_kinds(operations))


def _worse(compared: Sequence[Compared]) -> Iterator[RenderableType]:
    for comparison in compared:
        if comparison.status != "worse":
            continue
        yield ""
        run = comparison.b
        yield f"{run.manifest.scenario}, {run.manifest.configuration}: {run.stored.folder}"
        yield from (f"  {worst_sentence(each)}" for each in comparison.worst if each.finding == "worse")
        if comparison.settings:
            yield "  settings: " + "; ".join(map(str, comparison.settings))


def _listed(numbers: Sequence[int], most: int = 8) -> str:
    shown = ", ".join(f"{number:,}" for number in numbers[:most])
    return shown if len(numbers) <= most else f"{shown}, … ({len(numbers):,} in all)"


def _table(of: Rows) -> Table:
    table = Table(box=None, pad_edge=False)
    for place, heading in enumerate(of.headings):
        table.add_column(heading, justify="right" if place in of.numbers else "left", overflow="fold")
    for line in of.lines:
        table.add_row(*map(Text, line))
    return table
