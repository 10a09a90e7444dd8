"""Mean cycles by the probes of an allocation: what one more look of the search takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboards.formatting import grouped
from dashboards.loaded.by_probes import counted, means
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Cell, Column, Grid, Group, Line
from dashboards.tables.comparison import line_of

_COLUMNS = (
    Column("probes", "probes"),
    Column("critical_cycles", "critical section (cycles)"),
    Column("operation_cycles", "operation (cycles)"),
    Column("n", "n"),
)


def cycles_by_probes(series: Sequence[Series]) -> Grid | None:
    """The table of one scenario. None where the figure of the same name has nothing to show."""
    if counted(series) is None:
        return None
    lines = tuple(_line(one, row) for one in series for row in means(one.run).iter_rows(named=True))
    legend = _explanation(series)
    title = "Mean cycles by probes"
    return Grid("cycles-by-probes", title, _COLUMNS, (Group("", lines),), legend=legend)


def _line(one: Series, row: dict[str, Any]) -> Line:
    values = (row[name] for name in ("probes", "critical", "operation", "n"))
    return line_of(one, tuple(Cell(grouped(value), value) for value in values))


def _explanation(series: Sequence[Series]) -> str:
    words = "Of the measured requests that were served. Cycles are by DWT."
    adjusted = any(one.run.adjustments for one in series)
    return f"{words} Operations are as measured: a baseline is of a section." if adjusted else words
