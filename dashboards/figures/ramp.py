"""The depth ramp: what one allocation costs behind ever more free blocks that do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import polars as pl

from dashboards.figures.chart import (
    WHOLE,
    Chart,
    in_us,
    line,
    make_chart,
    per_series,
    points,
    timed,
    with_maximum,
)
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.loaded.quantities import bound_of
from dashboards.loaded.series import MEANT_DASH, MEANT_DOT, Series
from dashboards.waveforms import entry, meta, operation_keys, shared_switch


@dataclass(frozen=True)
class _Row:
    """`unit` is that of the column; the axis has times in µs."""

    column: str
    axis: str
    unit: str

    @property
    def told(self) -> str:
        """A value and its unit, in what hovering tells."""
        return WHOLE if self.unit == "ns" else f"%{{y:,.6~g}} {self.unit}"

    def values(self, column: pl.Series) -> npt.NDArray[Any]:
        return in_us(column) if self.unit == "ns" else column.to_numpy()

    def meta(self, of: dict[str, Any]) -> dict[str, Any]:
        return timed(of) if self.unit == "ns" else of


_ROWS = (
    _Row("wire_critical_ns", "critical section on the wire (µs)", "ns"),
    _Row("dwt_cycles", "critical section by DWT (cycles)", "cycles"),
    _Row("probes", "free-list probes", "probes"),
)


def ramp(series: Sequence[Series]) -> Chart | None:
    """Wire, DWT and probes of every measured allocation against depth. None without depths."""
    tables = [measured_by_depth(member) for member in series]
    if not any(len(table) for table in tables):
        return None
    figure = Figure.of_plots(rows=len(_ROWS), spacing=0.045, shared_x=True)
    for number, row in enumerate(_ROWS, start=1):
        for one, table in zip(series, tables, strict=True):
            valid = table.drop_nulls(row.column)
            figure.add(_trials(one, valid, row), row=number)
            figure.add(_worst(one, valid, row, legend=number == 1), row=number)
            figure.add(_best(one, valid, row, legend=number == 1), row=number)
        for one, table in zip(series, tables, strict=True):
            if (bound := _bound(one, table, row)) is not None:
                figure.add(bound, row=number)
        figure.update_yaxes(title_text=row.axis, rangemode="tozero", row=number)
    figure.update_xaxes(rangemode="tozero")
    figure.update_xaxes(title_text="depth (free blocks that do not fit)", row=len(_ROWS))
    counted = per_series(series, [len(table) for table in tables], "measured allocations")
    explanation = (
        "Points are single trials, the line is the worst of each depth. The legend can show the minimum of "
        "the trials too, which hides what a deadline must survive. A dashed line is the bound of a section "
        "that does not grow with the region: no heap can make it longer, interrupts apart."
    )
    return make_chart("ramp", "Cost against depth", series, counted, explanation, figure, height=860)


def measured_by_depth(series: Series) -> pl.DataFrame:
    """The measured allocations that have a depth, ordered by it."""
    columns = "seq", "depth", *(row.column for row in _ROWS)
    return series.run.measured_allocations.select(columns).drop_nulls("depth").sort("depth", "seq")


def _trials(series: Series, table: pl.DataFrame, row: _Row) -> Trace:
    return scatter(
        x=table["depth"].to_numpy(),
        y=row.values(table[row.column]),
        mode="markers",
        marker=points(series, size=4, opacity=0.4),
        name=f"{series.label} trials",
        legendgroup=series.run.id,
        showlegend=False,
        meta=row.meta(meta(series)),
        customdata=operation_keys(table["seq"]),
        hovertemplate=f"depth %{{x}}: {row.told}<br>operation %{{customdata}}",
    )


def _worst(series: Series, table: pl.DataFrame, row: _Row, legend: bool) -> Trace:
    worst = with_maximum(series, table[row.column].max(), row.unit) if legend else series.label
    line_of_max = {"name": worst, "line": line(series), "legendgroup": series.run.id}
    return _per_depth(series, table, row, "max") | line_of_max | {"showlegend": legend}


def _bound(series: Series, table: pl.DataFrame, row: _Row) -> Trace | None:
    """The bound, across all depths. None if it grows with the region: it would dwarf all else."""
    bound = bound_of(series.run, "allocate")
    if bound is None or bound.region_decided or row.unit not in ("ns", "cycles") or not len(table):
        return None
    value = bound.ns / 1000 if row.unit == "ns" else bound.cycles
    return scatter(
        x=[0, int(table["depth"].max())],  # type: ignore[arg-type]
        y=[value, value],
        mode="lines",
        line={"color": series.style.colour, "width": 1.2, "dash": MEANT_DASH},
        name=f"{series.label} bound",
        legendgroup=series.run.id,
        showlegend=False,
        meta=row.meta(entry(series)),
        hovertemplate=f"bound {row.told}",
    )


def _best(series: Series, table: pl.DataFrame, row: _Row, legend: bool) -> Trace:
    """The least of the trials at each depth, as the article author's example program prints it.

    Thin and off by default: it hides what a deadline must survive.
    """
    thin = {"color": series.style.colour, "width": 1, "dash": MEANT_DOT}
    switch = {"legendgroup": "minimum", "showlegend": legend, "visible": "legendonly"}
    switch["meta"] = row.meta(shared_switch(series))
    return _per_depth(series, table, row, "min") | {"name": "minimum of trials", "line": thin} | switch


def _per_depth(series: Series, table: pl.DataFrame, row: _Row, statistic: str) -> Trace:
    """The largest ("max") or smallest ("min") trial of each depth, and its operation."""
    descending = [False, statistic == "max"]
    ordered = table.sort("depth", pl.col(row.column), descending=descending, maintain_order=True)
    chosen = ordered.unique("depth", keep="first", maintain_order=True)
    return scatter(
        x=chosen["depth"].to_numpy(),
        y=row.values(chosen[row.column]),
        mode="lines",
        meta=row.meta(meta(series)),
        customdata=operation_keys(chosen["seq"]),
        hovertemplate=f"{statistic} at depth %{{x}}: {row.told}<br>operation %{{customdata}}",
    )
