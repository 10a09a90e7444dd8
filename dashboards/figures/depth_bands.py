"""Latencies against depth: single points, and the worst of each band of depths."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl

from dashboards.figures.chart import line, points, with_maximum
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import interrupt_keys, meta

BANDS = 16


def at_depth(one: Series, interrupts: pl.DataFrame) -> pl.DataFrame:
    """The interrupts that fell into an operation with a depth, and that `depth`."""
    depths = one.run.operations.select(pl.col("seq").alias("operation_seq"), "depth").drop_nulls()
    return interrupts.join(depths, on="operation_seq", how="inner", maintain_order="left")


def worst_by_depth(
    series: Sequence[Series], tables: Sequence[pl.DataFrame], column: str, title: str
) -> tuple[go.Figure, int] | None:
    """Each series' interrupts (`at_depth`) as points, and a line through the worst of each band.

    Returns the figure and the number of depths in a band; None without depths. `title` is that of
    the latency's axis.
    """
    if not any(len(table) for table in tables):
        return None
    width = _band_width(tables)
    figure = go.Figure()
    for one, table in zip(series, tables, strict=True):
        figure.add_trace(_single(one, table, column))
        figure.add_trace(_worst_line(one, worst_per_band(table, width, column), width, column))
    figure.update_xaxes(title_text=f"depth (bands of {width})", rangemode="tozero")
    figure.update_yaxes(title_text=title, rangemode="tozero")
    return figure, width


def worst_per_band(table: pl.DataFrame, width: int, column: str) -> pl.DataFrame:
    """The row with the greatest `column` of each band, and their number `n`.

    Band b is depths b·width+1 … (b+1)·width.
    """
    if table.is_empty():
        return table.with_columns(band=pl.lit(0, pl.Int64), n=pl.lit(0, pl.UInt32))
    return (
        table.with_columns(band=(pl.col("depth").cast(pl.Int64) - 1).clip(0) // width)
        .with_columns(n=pl.len().over("band"))
        .sort("band", column, descending=[False, True], maintain_order=True)
        .unique("band", keep="first", maintain_order=True)
    )


def _band_width(tables: Sequence[pl.DataFrame]) -> int:
    """The least number of depths in a band that makes at most BANDS of them."""
    deepest = max(int(table["depth"].max()) for table in tables if len(table))  # type: ignore[arg-type]
    return max(1, -(-deepest // BANDS))


def _single(one: Series, table: pl.DataFrame, column: str) -> go.Scatter:
    return go.Scatter(
        x=table["depth"].to_numpy(),
        y=table[column].to_numpy(),
        mode="markers",
        marker=points(one, size=4, opacity=0.35),
        name=f"{one.label} single interrupts",
        legendgroup=one.run.id,
        showlegend=False,
        meta=meta(one),
        customdata=interrupt_keys(table["sample"], table["operation_seq"]),
        hovertemplate="depth %{x}: %{y:,.6~g} ns<br>operation %{customdata}",
    )


def _worst_line(one: Series, worst: pl.DataFrame, width: int, column: str) -> go.Scatter:
    marker = {"color": one.style.colour, "size": 8, "symbol": one.style.symbol}
    return bands(one, worst, width, column).update(
        name=with_maximum(one, worst[column].max(), "ns"),
        legendgroup=one.run.id,
        marker=marker,
        line=line(one),
    )


def bands(one: Series, worst: pl.DataFrame, width: int, column: str) -> go.Scatter:
    ranges = [f"{band * width + 1}–{(band + 1) * width}" for band in worst["band"]]
    keys = interrupt_keys(worst["sample"], worst["operation_seq"])
    return go.Scatter(
        x=(worst["band"].to_numpy() * width + (width + 1) / 2),
        y=worst[column].to_numpy(),
        mode="lines+markers",
        meta=meta(one),
        customdata=list(zip(keys, ranges, worst["n"].to_list(), strict=True)),
        hovertemplate="depth %{customdata[1]}: worst %{y:,.6~g} ns of n = %{customdata[2]}<br>"
        "operation %{customdata[0]}",
    )
