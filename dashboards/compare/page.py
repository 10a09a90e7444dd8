"""The page as a file: one HTML text that needs no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from analysis.compare import rows
from analysis.compare.compared import Compared
from analysis.compare.comparison import Comparison
from analysis.compare.rows import Rows
from analysis.compare.sentences import described, effects, left_out, overall, remarks
from base.files.whole import write_bytes
from dashboards.compare.figures import charts
from dashboards.page.sheet import Grid, sheet


def write(found: Comparison, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(found).encode())


def html(found: Comparison) -> str:
    """The whole page. Equal comparisons give equal text."""
    only = found.compared[0] if len(found.compared) == 1 else None
    told = [*_told(only), *left_out(found)] if only else left_out(found)
    grids = [_grid(one) for one in _tables(found) if one.lines]
    return sheet("compare.html", overall(found), told, charts(only) if only else [], grids)


def _told(compared: Compared) -> Iterator[str]:
    yield f"A: {described(compared.a.stored)}"
    yield f"B: {described(compared.b.stored)}"
    yield from remarks(compared)
    if compared.operations:
        yield rows.operations_sentence(compared.operations)
    yield from effects(compared)


def _tables(found: Comparison) -> Iterator[Rows]:
    """Of one pair every table; of several a table of them, and what got worse."""
    if len(found.compared) == 1:
        yield from _of_pair(found.compared[0])
        return
    yield rows.of_pairs(found.compared)
    for one in found.compared:
        if one.status == "worse":
            manifest = one.b.manifest
            yield rows.of_worst_cases(one.worst).titled(f"{manifest.scenario}, {manifest.configuration}")
            yield rows.of_settings(one.settings)


def _of_pair(compared: Compared) -> Iterator[Rows]:
    yield rows.of_worst_cases(compared.worst)
    yield rows.of_settings(compared.settings)
    if compared.operations and compared.operations.changed:
        yield rows.of_operations(compared.operations)
        yield rows.of_kinds(compared.operations)
    yield rows.of_distributions(compared)


def _grid(of: Rows) -> Grid:
    return Grid(of.title, of.headings, of.lines, told=not of.numbers)
