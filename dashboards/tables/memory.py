"""What each run's heap took, beside its worst interrupt."""

from __future__ import annotations

from collections.abc import Sequence

from base.run_folder.quantities import LATENCY
from dashboards.caveats import IN_GIVEN_HEAP
from dashboards.formatting import grouped
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Cell, Column, Grid, Group, Line
from dashboards.tables.comparison import brief, largest, line_of

_COLUMNS = (
    Column("interrupt_ns", "worst interrupt (ns)"),
    Column("used_bytes", "heap used (bytes)"),
    Column("peak_live_bytes", "live at most (bytes)"),
    Column("fragmentation_percent", "fragmentation (%)"),
    Column("sbbm_bytes", "largest free block, at worst (bytes)"),
)
_FIGURES = ("used_bytes", "peak_live_bytes", "fragmentation_percent", "sbbm_bytes")


def memory(series: Sequence[Series]) -> Grid:
    """A row for each run, the least heap first; runs that do not tell come last."""
    greatest = largest(LATENCY, series)
    ordered = sorted(series, key=_used)
    lines = tuple(_line(one, greatest) for one in ordered)
    return Grid("memory", "Heap and worst interrupt", _COLUMNS, (Group("", lines),), legend=IN_GIVEN_HEAP)


def _used(one: Series) -> float:
    told = one.run.manifest.memory
    return float("inf") if told is None or told.used_bytes is None else told.used_bytes


def _line(one: Series, greatest: float) -> Line:
    told = one.run.manifest.memory
    why = (told.why_not or "") if told else "The run was recorded before runs told it."
    values = [getattr(told, name, None) for name in _FIGURES]
    cells = tuple(Cell(grouped(value), value, why="" if value is not None else why) for value in values)
    return line_of(one, (brief(LATENCY, one, greatest), *cells))
