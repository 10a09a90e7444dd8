"""The matrix: a row for each allocator, under each scenario, with its worst of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from capture.run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, TASK, Quantity
from dashboards.formatting import MISSING, grouped, number
from dashboards.loaded.bounds import bound_of
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Cell, Column, Grid, Group, Line, Page, Sample
from dashboards.waveforms.keys import worst_key

_WORST = {"allocate": CRITICAL, "free": FREE_CRITICAL, "interrupt": LATENCY, "task": TASK}
_COLUMNS = (
    Column("allocate_ns", "allocate (ns)"),
    Column("free_ns", "free (ns)"),
    Column("interrupt_ns", "interrupt (ns)"),
    Column("task_ns", "task (ns)"),
    Column("bound_ns", "static bound, allocate (ns)"),
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
    worst = {word: _largest(series, quantity) for word, quantity in _WORST.items()}
    ordered = sorted(series, key=lambda one: -(one.run.summary(CRITICAL).max or 0))
    return Group(scenario, tuple(_line(one, worst) for one in ordered))


def _largest(series: Sequence[Series], quantity: Quantity) -> float:
    return max((one.run.summary(quantity).max or 0 for one in series), default=0)


def _line(one: Series, largest: Mapping[str, float]) -> Line:
    worst = tuple(_worst(one, quantity, largest[word]) for word, quantity in _WORST.items())
    cells = (*worst, _bound(one), _fragmentation(one))
    return Line(one.name, cells, entry=one.style.entry, verdict=one.run.manifest.verdict)


def _worst(one: Series, quantity: Quantity, largest: float) -> Cell:
    value = one.run.summary(quantity).max
    key = worst_key(one.run, quantity)
    if value is None or key is None:
        return Cell(MISSING)
    budget = one.run.certainty.budgets.get(quantity.key)
    return Cell(
        number(value, quantity.unit),
        value,
        notes=() if budget is None else (f"±{number(budget, quantity.unit)}",),
        sample=Sample(one.run.id, key),
        share_percent=100 * value / largest if largest else None,
    )


def _bound(one: Series) -> Cell:
    bound = bound_of(one.run, "allocate")
    if bound is None:
        return Cell(MISSING)
    notes = ("grows with heap size",) if bound.region_decided else ()
    return Cell(number(bound.ns, "ns"), bound.ns, notes)


def _fragmentation(one: Series) -> Cell:
    memory = one.run.manifest.memory
    value = memory.fragmentation_percent if memory else None
    return Cell(grouped(value), value)
