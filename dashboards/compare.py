"""The pages of a comparison: of runs, by how much each critical section changed, and the tables;
and of one allocator on several boards.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from analysis.compare import boards as of_boards
from analysis.compare import text as rows
from analysis.compare.boards import MEANING, Across
from analysis.compare.compared import Compared, Comparison, described, left_out, overall, remarks
from analysis.compare.findings import join, met_otherwise
from base.run_index import configuration
from base.text_table import TextTable
from dashboards.blocks import Chart
from dashboards.figures.chart import differences
from dashboards.page.templates import Sheet

_EXPLANATION = (
    "By the cycle counter. Above 0 the section takes longer in B. Open circles are operations that "
    "more or fewer interrupts met in B than in A: there the difference need not be the code's."
)


def charts(compared: Compared) -> list[Chart]:
    """The figure, where the runs have operations in common that changed."""
    if compared.operations is None or not compared.operations.changed:
        return []
    change = pl.col("dwt_cycles_of_b").cast(pl.Int64) - pl.col("dwt_cycles_of_a").cast(pl.Int64)
    table = join(compared.a, compared.b).select("seq", cycles=change, otherwise=met_otherwise())
    table = table.drop_nulls("cycles")
    layers = [
        ("met by as many interrupts", table.filter(~pl.col("otherwise")), False),
        ("met by more or fewer", table.filter("otherwise"), True),
    ]
    figure = differences(layers, "longer in B by")
    a, b = (run.name for run in (compared.a, compared.b))
    counted = f"n = {table.height:,} operations · A {a} · B {b}"
    title = "How much each critical section changed"
    return [Chart("sections", title, counted, _EXPLANATION, figure, compared.doubts)]


def sheet(comparison: Comparison) -> Sheet:
    """The page. Equal comparisons give equal text."""
    only = comparison.compared[0] if len(comparison.compared) == 1 else None
    sentences = [*(_told(only) if only else ()), *left_out(comparison)]
    tables = _of_pair(only) if only else _of_pairs(comparison)
    grids = [table for table in tables if table.lines]
    return Sheet(
        "Tailscope: runs compared",
        overall(comparison),
        sentences,
        charts(only) if only else [],
        grids,
        "A change is what B has more than A; below 0 B has less. A change within the budgets means nothing; "
        "one that chance may do need not be the code's. docs/how-to/compare.md says how to tell.",
    )


def _told(compared: Compared) -> Iterator[str]:
    yield f"A: {described(compared.a)}"
    yield f"B: {described(compared.b)}"
    yield from remarks(compared)
    if compared.operations:
        yield rows.operations_sentence(compared.operations)


def _of_pairs(comparison: Comparison) -> Iterator[TextTable]:
    """One table of the pairs, and what got worse."""
    yield rows.of_pairs(comparison.compared)
    for pair in comparison.compared:
        if pair.status == "worse":
            manifest = pair.b.manifest
            yield rows.of_worst_cases(pair.worst)._replace(
                title=f"{manifest.scenario}, {configuration(manifest)}"
            )
            yield rows.of_settings(pair.settings)


def _of_pair(compared: Compared) -> Iterator[TextTable]:
    yield rows.of_worst_cases(compared.worst)
    yield rows.of_settings(compared.settings)
    if compared.operations and compared.operations.changed:
        yield rows.of_operations(compared.operations)
    yield rows.of_distributions(compared)


def sheet_of_boards(across: Across) -> Sheet:
    """The page of one allocator on several boards. Equal runs give equal text."""
    lines = [line for group in across.groups for line in group.lines]
    boards = ", ".join(dict.fromkeys(line.title for line in lines))
    remarks = [group.remark for group in across.groups if group.remark]
    remarks += [
        f"{line.run} is {line.manifest.verdict}: {' '.join(line.manifest.reasons)}"
        for line in lines
        if not line.manifest.complete
    ]
    return Sheet(
        "Tailscope: one allocator on several boards",
        f"One allocator on several boards: {boards}.",
        [*remarks, *across.left_out],
        [],
        of_boards.tables(across),
        MEANING,
    )
