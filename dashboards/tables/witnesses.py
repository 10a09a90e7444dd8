"""Tables of the witnesses: wire beside cycle counter, errors of values, cycles beside probes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from base.run_folder.manifest import ErrorBudget
from base.run_folder.quantities import CRITICAL, LATENCY, TASK, Quantity
from dashboards.blocks import Cell, Column, Grid, Group, Line
from dashboards.formatting import MISSING, every_run, grouped, number, short, whole
from dashboards.loaded.quantities import counted, means
from dashboards.loaded.series import Series
from dashboards.tables.comparison import line_of

_AGREEMENT = (
    Column("furthest_cycles", "furthest apart (cycles)"),
    Column("tolerance_cycles", "tolerance (cycles)"),
    Column("resolution_cycles", "of it resolution (cycles)"),
    Column("clock_cycles", "of it clock (cycles)"),
    Column("n", "n"),
)
_TERMS = ("total", "resolution", "clock", "skew", "overhead")
_BUDGET = tuple(Column(f"{term}_ns", f"{term} (µs)") for term in _TERMS)
_OF = (CRITICAL, LATENCY, TASK)


def agreement(series: Sequence[Series]) -> Grid:
    """A row for each run: how far the wire and DWT were apart at most, and how far they may be."""
    lines = tuple(_agreement(member) for member in series)
    legend = (
        "Each critical section is measured twice: on the wire, and by the core's cycle counter. They may "
        "differ by the tolerance, which is a bound of the errors of both."
    )
    return Grid("agreement", "Wire and DWT", _AGREEMENT, (Group("", lines),), legend=legend)


def nearly_equal(series: Series) -> bool:
    """True if the witnesses never differ by more than a cycle, the least that DWT can tell."""
    furthest = series.run.manifest.agreement.wire_minus_dwt_cycles_max_abs
    return furthest is not None and furthest <= 1


def _agreement(series: Series) -> Line:
    found = series.run.manifest.agreement
    tolerances = (found.tolerance_cycles, found.resolution_cycles, found.clock_cycles)
    values = (found.wire_minus_dwt_cycles_max_abs, *tolerances)
    cells = tuple(Cell(MISSING if value is None else f"{value:,.2f}", value) for value in values)
    return line_of(series, (*cells, Cell(number(found.n, ""), found.n)))


def error_budget(series: Sequence[Series]) -> Grid | None:
    """The terms of each value's error. None if no run states them."""
    if not any(member.run.manifest.error_budget for member in series):
        return None
    groups = tuple(Group(quantity.words, _budgets(quantity, series)) for quantity in _OF)
    legend = (
        "Total: the value is true to plus or minus this. It is the sum of resolution, clock and skew. "
        "Overhead is no error: it is the part of the value that is the bench's own, its markers."
    )
    return Grid("error-budget", "Error budget", _BUDGET, groups, legend=legend)


def _budgets(quantity: Quantity, series: Sequence[Series]) -> tuple[Line, ...]:
    """A row for each run; one for all where they do not differ as they are read."""
    lines = tuple(_budget(quantity, member) for member in series)
    if len(lines) > 1 and len({tuple(cell.text for cell in line.cells) for line in lines}) == 1:
        return (Line(every_run(len(lines)), lines[0].cells),)
    return lines


def _budget(quantity: Quantity, series: Series) -> Line:
    budget: ErrorBudget | None = series.run.manifest.error_budget.get(quantity.key)
    values = [getattr(budget, term).ns if budget else None for term in _TERMS]
    return line_of(
        series, tuple(Cell(short(value, "ns"), value, whole=whole(value, "ns")) for value in values)
    )


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
    lines = tuple(_line(member, row) for member in series for row in means(member.run).iter_rows(named=True))
    legend = _explanation(series)
    title = "Mean cycles by probes"
    return Grid("cycles-by-probes", title, _COLUMNS, (Group("", lines),), legend=legend)


def _line(series: Series, row: dict[str, Any]) -> Line:
    values = (row[name] for name in ("probes", "critical", "operation", "n"))
    return line_of(series, tuple(Cell(grouped(value), value) for value in values))


def _explanation(series: Sequence[Series]) -> str:
    words = "Of the measured requests that were served. Cycles are by DWT."
    adjusted = any(member.run.adjustments for member in series)
    return f"{words} Operations are as measured: a baseline is of a section." if adjusted else words
