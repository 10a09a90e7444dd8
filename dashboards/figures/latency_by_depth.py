"""Worst interrupt latency against depth: whose tail grows."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl

from dashboards.chart import Chart, line, make_chart, per_series, points
from dashboards.locking import caveats
from dashboards.selection import interrupt_keys, meta
from dashboards.series import Series

BANDS = 16


def latency_by_depth(series: Sequence[Series]) -> Chart | None:
    """The worst STIM→ISR and CTRL→CISR of each band of depths. None without depths."""
    tables = [at_depth(one, one.run.answered) for one in series]
    if not any(len(table) for table in tables):
        return None
    deepest = max(int(table["depth"].max()) for table in tables if len(table))  # type: ignore[arg-type]
    width = max(1, -(-deepest // BANDS))
    figure = go.Figure()
    for one, table in zip(series, tables, strict=True):
        figure.add_trace(_single(one, table))
        figure.add_trace(_masked(one, worst_per_band(table, width), width))
    controls = [(one, worst_per_band(at_depth(one, one.run.answered_control), width)) for one in series]
    controls = [(one, worst) for one, worst in controls if len(worst)]
    for i, (one, worst) in enumerate(controls):
        figure.add_trace(_control(one, worst, width, legend=i == 0))
    figure.update_xaxes(title_text=f"depth (bands of {width})", rangemode="tozero")
    figure.update_yaxes(title_text="latency (ns)", rangemode="tozero")
    counted = per_series(
        series, [len(table) for table in tables], "interrupts during operations with a depth"
    )
    explanation = (
        "Points are single interrupts that fell into an operation of that depth, the line is the worst of "
        "each band. A dip says that no stimulus came early in a search, not that the search was shorter. No "
        "mask in BASEPRI can delay the control interrupt: it shows that the rise is the allocator's. "
    ) + caveats(series)
    return make_chart(
        "depth", "Interrupt latency against depth", series, counted, explanation, figure, height=460
    )


def at_depth(one: Series, interrupts: pl.DataFrame) -> pl.DataFrame:
    """The interrupts that fell into an operation which has a depth, with that `depth`."""
    depths = one.run.operations.select(pl.col("seq").alias("operation_seq"), "depth").drop_nulls()
    return interrupts.join(depths, on="operation_seq", how="inner", maintain_order="left")


def worst_per_band(table: pl.DataFrame, width: int) -> pl.DataFrame:
    """The worst interrupt of each band, and their number `n`; band b is depths b·width+1 … (b+1)·width."""
    if table.is_empty():
        return table.with_columns(band=pl.lit(0, pl.Int64), n=pl.lit(0, pl.UInt32))
    return (
        table.with_columns(band=(pl.col("depth").cast(pl.Int64) - 1).clip(0) // width)
        .with_columns(n=pl.len().over("band"))
        .sort("band", "isr_latency_ns", descending=[False, True], maintain_order=True)
        .unique("band", keep="first", maintain_order=True)
    )


def _single(one: Series, table: pl.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=table["depth"].to_numpy(),
        y=table["isr_latency_ns"].to_numpy(),
        mode="markers",
        marker=points(one, size=4, opacity=0.35),
        name=f"{one.label} single interrupts",
        legendgroup=one.run.id,
        showlegend=False,
        meta=meta(one),
        customdata=interrupt_keys(table["sample"], table["operation_seq"]),
        hovertemplate="depth %{x}: %{y:,.6~g} ns<br>operation %{customdata}",
    )


def _masked(one: Series, worst: pl.DataFrame, width: int) -> go.Scatter:
    marker = {"color": one.style.colour, "size": 8, "symbol": one.style.symbol}
    return _bands(one, worst, width).update(
        name=one.label, legendgroup=one.run.id, marker=marker, line=line(one)
    )


def _control(one: Series, worst: pl.DataFrame, width: int, legend: bool) -> go.Scatter:
    """Thin and with open markers; one switch for all runs."""
    marker = {"color": one.style.colour, "size": 8, "symbol": f"{one.style.symbol}-open"}
    thin = {"color": one.style.colour, "width": 1, "dash": "dot"}
    switch = {"name": "control interrupt", "legendgroup": "control", "showlegend": legend}
    return _bands(one, worst, width).update({"marker": marker, "line": thin} | switch)


def _bands(one: Series, worst: pl.DataFrame, width: int) -> go.Scatter:
    ranges = [f"{band * width + 1}–{(band + 1) * width}" for band in worst["band"]]
    keys = interrupt_keys(worst["sample"], worst["operation_seq"])
    return go.Scatter(
        x=(worst["band"].to_numpy() * width + (width + 1) / 2),
        y=worst["isr_latency_ns"].to_numpy(),
        mode="lines+markers",
        meta=meta(one),
        customdata=list(zip(keys, ranges, worst["n"].to_list(), strict=True)),
        hovertemplate="depth %{customdata[1]}: worst %{y:,.6~g} ns of n = %{customdata[2]}<br>"
        "operation %{customdata[0]}",
    )
