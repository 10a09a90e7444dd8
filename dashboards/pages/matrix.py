"""The matrix: a row for each allocator, under each scenario, with its worst of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from capture.run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, TASK, Quantity
from dashboards.formatting import MISSING, grouped, number
from dashboards.loaded.bounds import bound_of
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Cell, Column, Grid, Group, Line, Page
from dashboards.tables.comparison import line_of, worst

_WORST = {"allocate": CRITICAL, "free": FREE_CRITICAL, "interrupt": LATENCY, "task": TASK}
_COLUMNS = (
    Column("allocate_ns", "allocate (ns)"),
    Column("free_ns", "free (ns)"),
    Column("interrupt_ns", "interrupt (ns)"),
    Column("task_ns", "task (ns)"),
    Column("bound_ns", "static bound, allocate (ns)"),
    Column("heap_used_bytes", "heap used (bytes)"),
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
    largest = {word: _largest(series, quantity) for word, quantity in _WORST.items()}
    ordered = sorted(series, key=lambda one: -(one.run.summary(CRITICAL).max or 0))
    return Group(scenario, tuple(_line(one, largest) for one in ordered))


def _largest(series: Sequence[Series], quantity: Quantity) -> float:
    return max((one.run.summary(quantity).max or 0 for one in series), default=0)


def _line(one: Series, largest: Mapping[str, float]) -> Line:
    maxima = tuple(_worst(one, quantity, largest[word]) for word, quantity in _WORST.items())
    return line_of(one, (*maxima, _bound(one), *_memory(one)))


def _worst(one: Series, quantity: Quantity, largest: float) -> Cell:
    """As the comparison has it, less all notes but the error budget."""
    cell = worst(quantity, one, largest)
    budget = one.run.certainty.budgets.get(quantity.key)
    notes = () if budget is None or cell.value is None else (f"±{number(budget, quantity.unit)}",)
    return Cell(cell.text, cell.value, notes, cell.sample, cell.why, cell.share_percent)


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
