"""Cycles of an allocation: against the probes of its search, and against the size of the block."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dashboards.figures.chart import Chart, line, make_chart, per_series, points, with_maximum
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.formatting import grouped
from dashboards.loaded.quantities import OfSize, by_size, counted, means
from dashboards.loaded.series import INK, Series
from dashboards.waveforms import entry, meta, operation_keys


def cycles_by_probes(series: Sequence[Series]) -> Chart | None:
    """DWT cycles of every measured allocation against its probes.

    None where no probes were counted, and for a ramp, whose own figure says it better.
    """
    tables = counted(series)
    if tables is None:
        return None
    figure = Figure()
    for rank, (member, table) in enumerate(zip(series, tables, strict=True)):
        if len(table):
            shift = _shift(rank, len(series))
            figure.add(_allocations(member, table, shift))
            figure.add(_worst(member, table, shift))
            figure.add(_means(member, shift))
    figure.update_xaxes(title_text="free-list probes of the allocation", dtick=_tick(tables))
    figure.update_yaxes(title_text="critical section by DWT (cycles)", rangemode="tozero")
    how_many = per_series(series, [len(table) for table in tables], "measured allocations")
    explanation = (
        "Points are single allocations, set side by side within a column; the line joins the worst. A dash "
        "is the mean of those that were served."
    )
    return make_chart("probes", "Cycles by probes", series, how_many, explanation, figure, height=460)


def _shift(rank: int, series: int) -> float:
    """The shift of a series to the right of a probe count, so that none covers another."""
    return (rank - (series - 1) / 2) * min(0.18, 0.6 / series)


def _tick(tables: Sequence[pl.DataFrame]) -> int | None:
    """A tick at each whole number while they fit; beyond that Plotly chooses."""
    return 1 if max(int(table["probes"].max() or 0) for table in tables if len(table)) <= 20 else None  # type: ignore[arg-type]


def _allocations(series: Series, table: pl.DataFrame, shift: float) -> Trace:
    return scatter(
        x=table["probes"].to_numpy() + shift,
        y=table["dwt_cycles"].to_numpy(),
        mode="markers",
        marker=points(series, size=6, opacity=0.45),
        name=with_maximum(series, table["dwt_cycles"].max(), "cycles"),
        legendgroup=series.run.id,
        meta=meta(series),
        customdata=operation_keys(table["seq"]),
        hovertemplate="%{y:,} cycles<br>operation %{customdata}",
    )


def _worst(series: Series, table: pl.DataFrame, shift: float) -> Trace:
    ordered = table.sort("probes", "dwt_cycles", descending=[False, True], maintain_order=True)
    worst = ordered.unique("probes", keep="first", maintain_order=True)
    return scatter(
        x=worst["probes"].to_numpy() + shift,
        y=worst["dwt_cycles"].to_numpy(),
        mode="lines",
        line=line(series, width=1.5),
        name=f"{series.label} max",
        legendgroup=series.run.id,
        showlegend=False,
        meta=meta(series),
        customdata=operation_keys(worst["seq"]),
        text=[grouped(probes) for probes in worst["probes"]],
        hovertemplate="max of %{text} probes: %{y:,} cycles<br>operation %{customdata}",
    )


def _means(series: Series, shift: float) -> Trace:
    """A mean is no single operation, so a click on it leads nowhere."""
    table = means(series.run)
    return scatter(
        x=table["probes"].to_numpy() + shift,
        y=table["critical"].to_numpy(),
        mode="markers",
        marker={"symbol": "line-ew-open", "size": 16, "color": INK, "line": {"width": 2}},
        name=f"{series.label} mean",
        legendgroup=series.run.id,
        showlegend=False,
        meta=entry(series),
        text=[
            f"mean of {grouped(n)} with {grouped(probes)} probes"
            for probes, n in table.select("probes", "n").iter_rows()
        ],
        hovertemplate="%{text}: %{y:,.1f} cycles",
    )


def cycles_by_size(series: Sequence[Series]) -> Chart | None:
    """Medians as lines and maxima as points, by size. None for any scenario but `sizes`."""
    tables = [by_size(member.run) for member in series]
    if not any(tables):
        return None
    figure = Figure()
    for one, sizes in zip(series, tables, strict=True):
        for state in ("fresh", "fragmented"):
            figure.add(_medians(one, sizes, state))
            figure.add(_maxima(one, sizes, state))
    figure.update_xaxes(title_text="size of the block (bytes)", type="log", dtick="D2")
    figure.update_yaxes(title_text="critical section by DWT (cycles)", rangemode="tozero")
    counted = per_series(series, [len(member.run.measured_allocations) for member in series], "allocations")
    explanation = "Lines join medians, points are maxima. Thin: a fresh heap; thick: behind fragments."
    return make_chart("sizes", "Cycles by size", series, counted, explanation, figure, height=460)


def _medians(series: Series, sizes: Sequence[OfSize], state: str) -> Trace:
    return scatter(
        x=[each.size for each in sizes],
        y=[getattr(each, f"{state}_median") for each in sizes],
        mode="lines",
        line=line(series, width=1 if state == "fresh" else 3),
        name=f"{series.label} {state}",
        legendgroup=series.run.id,
        meta=entry(series),
        hovertemplate="%{x:,} bytes, median: %{y:,} cycles",
    )


def _maxima(series: Series, sizes: Sequence[OfSize], state: str) -> Trace:
    return scatter(
        x=[each.size for each in sizes],
        y=[getattr(each, f"{state}_max") for each in sizes],
        mode="markers",
        marker=points(series, size=5 if state == "fresh" else 9),
        name=f"{series.label} {state} max",
        legendgroup=series.run.id,
        showlegend=False,
        meta=entry(series),
        hovertemplate="%{x:,} bytes, max: %{y:,} cycles",
    )
