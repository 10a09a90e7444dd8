"""One allocator on several boards: a group for each allocator, a row for each board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from analysis.compare.boards import MEANING, OnBoard, Worst, signed
from analysis.compare.boards import Group as Alike
from dashboards.blocks import Cell, Column, Grid, Group, Line
from dashboards.formatting import MISSING, grouped, short, whole
from dashboards.loaded.series import Series
from dashboards.tables.comparison import line_of

_COLUMNS = (
    Column("allocate_cycles", "worst allocation (cycles)"),
    Column("allocate_ns", "worst allocation (µs)"),
    Column("allocations", "n"),
    Column("free_cycles", "worst free (cycles)"),
    Column("free_ns", "worst free (µs)"),
    Column("growth_cycles", "slope per freed block (cycles)"),
    Column("growth_ns", "slope per freed block (µs)"),
    Column("interrupt_ns", "worst interrupt (µs)"),
    Column("idle_cycles", "answer when idle (cycles)"),
    Column("entry_cycles", "entry by the manual (cycles)"),
    Column("core", "core", numeric=False),
    Column("core_hz", "clock (MHz)"),
    Column("wait_states", "wait states"),
    Column("samplerate_hz", "sampled at (MS/s)"),
)


def boards(groups: Sequence[Alike], series: Mapping[str, Series]) -> Grid:
    """The table of `groups`; `series` are their runs, by id."""
    made = tuple(
        Group(
            group.allocator, tuple(_line(line, series[line.run]) for line in group.lines), note=group.remark
        )
        for group in groups
    )
    return Grid("boards", "By board", _COLUMNS, made, names="board", legend=MEANING, pinned=0)


def _line(line: OnBoard, series: Series) -> Line:
    figures, core = line.figures, line.core
    growth = figures.growth
    cells = (
        *_worst(figures.allocate),
        Cell(MISSING) if figures.allocate is None else Cell(grouped(figures.allocate.n), figures.allocate.n),
        *_worst(figures.free),
        _number(growth.cycles if growth else None, lambda value: signed(value, 2)),
        _number(growth.ns if growth else None, lambda value: signed(value / 1000, 4)),
        _worst(figures.interrupt)[1],
        _number(figures.answer.cycles if figures.answer else None, "{:,.0f}".format),
        _number(core.entry_cycles if core else None, "{:,.0f}".format),
        Cell(core.title, core.title) if core else Cell(MISSING),
        _number(figures.core_hz, lambda value: f"{value / 1e6:g}"),
        _number(figures.wait_states, "{:,.0f}".format),
        Cell(f"{figures.samplerate_hz / 1e6:g}", figures.samplerate_hz),
    )
    return replace(line_of(series, cells), name=line.name)


def _worst(worst: Worst | None) -> tuple[Cell, Cell]:
    """In cycles and in µs."""
    if worst is None:
        return Cell(MISSING), Cell(MISSING)
    why = "" if worst.counted else "By the wire: nothing counted the cycles."
    budget = () if worst.budget_ns is None else (f"± {short(worst.budget_ns, 'ns')}",)
    return (
        Cell(f"{worst.cycles:,.0f}", worst.cycles, why=why),
        Cell(short(worst.ns, "ns"), worst.ns, budget, whole=whole(worst.ns, "ns")),
    )


def _number(value: float | None, words: Callable[[float], str]) -> Cell:
    return Cell(MISSING) if value is None else Cell(words(value), value)
