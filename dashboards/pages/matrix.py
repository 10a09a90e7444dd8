"""The matrix: a row for each allocator, under each scenario, with its worst of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, TASK
from dashboards.formatting import MISSING, grouped, number
from dashboards.loaded.bounds import bound_of
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Cell, Column, Grid, Group, Line, Page
from dashboards.tables.comparison import brief, largest, line_of

_WORST = {"allocate": CRITICAL, "free": FREE_CRITICAL, "interrupt": LATENCY, "task": TASK}
_COLUMNS = (
    Column("allocate_ns", "allocate (ns)"),
    Column("free_ns", "free (ns)"),
    Column("interrupt_ns", "interrupt (ns)"),
    Column("task_ns", "task (ns)"),
    Column("bound_ns", "static bound, allocate (ns)"),
    Column("heap_used_bytes", "heap used (bytes)"),
    Column("flash_bytes", "flash (bytes)"),
    Column("static_ram_bytes", "static RAM (bytes)"),
    Column("fragmentation_percent", "fragmentation (%)"),
)
_LEGEND = (
    "The worst that the run saw: the longest critical section of an allocation and of a free, the "
    "longest wait of an interrupt and of the task that it wakes. ± is the error budget of the value."
)


def matrix(scenarios: Mapping[str, Sequence[Series]]) -> Page:
    """Every allocator in every scenario, the worst allocation first."""
    groups = tuple(_group(scenario, series) for scenario, series in scenarios.items())
    grid = Grid("matrix", "Worst case by allocator and scenario", _COLUMNS, groups, legend=_LEGEND)
    return Page("matrix", "Matrix", (), (grid,))


def _group(scenario: str, series: Sequence[Series]) -> Group:
    greatest = {word: largest(quantity, series) for word, quantity in _WORST.items()}
    ordered = sorted(series, key=lambda one: -(one.run.summary(CRITICAL).max or 0))
    return Group(scenario, tuple(_line(one, greatest) for one in ordered))


def _line(one: Series, greatest: Mapping[str, float]) -> Line:
    maxima = tuple(brief(quantity, one, greatest[word]) for word, quantity in _WORST.items())
    used, lost = _memory(one)
    return line_of(one, (*maxima, _bound(one), used, *_footprint(one), lost))


def _bound(one: Series) -> Cell:
    bound = bound_of(one.run, "allocate")
    if bound is None:
        return Cell(MISSING)
    notes = ("grows with heap size",) if bound.region_decided else ()
    return Cell(number(bound.ns, "ns"), bound.ns, notes)


def _memory(one: Series) -> tuple[Cell, Cell]:
    memory = one.run.manifest.memory
    if memory is None:
        return Cell(MISSING), Cell(MISSING)
    why = memory.why_not or ""
    used, lost = memory.used_bytes, memory.fragmentation_percent
    return Cell(grouped(used), used, why=why), Cell(grouped(lost), lost, why=why)


def _footprint(one: Series) -> tuple[Cell, Cell]:
    """What the allocator takes of the chip; a run made before runs told it has dashes."""
    told = one.run.manifest.footprint
    values = (told.flash_bytes, told.static_ram_bytes) if told else (None, None)
    flash, ram = (Cell(grouped(value), value) for value in values)
    return flash, ram
