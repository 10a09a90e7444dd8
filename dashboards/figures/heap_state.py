"""The heap over the run: live blocks and bytes, with the worst operation marked."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from dashboards.figures.chart import Chart, line, make_chart, per_series
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import meta

_ROWS = (("live", "live blocks"), ("bytes_in_use", "bytes in use"))


def heap_state(series: Sequence[Series]) -> Chart | None:
    """Live blocks and payload bytes after each operation. None without operations."""
    if not any(len(one.run.operations) for one in series):
        return None
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for row, (column, axis) in enumerate(_ROWS, start=1):
        for one in series:
            if len(one.run.operations):
                figure.add_trace(_course(one, column, legend=row == 1), row=row, col=1)
                figure.add_trace(_worst(one, column, legend=row == 1), row=row, col=1)
        figure.update_yaxes(title_text=axis, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text="operation (seq)", row=2, col=1)
    counted = per_series(series, [len(one.run.operations) for one in series], "operations")
    explanation = (
        "The large marker is the operation with the longest critical section among the measured allocations."
    )
    return make_chart(
        "heap", "The heap at the worst instant", series, counted, explanation, figure, height=480
    )


def _course(one: Series, column: str, legend: bool) -> go.Scatter:
    table = one.run.operations
    return go.Scatter(
        x=table["seq"].to_numpy(),
        y=table[column].to_numpy(),
        mode="lines",
        line={**line(one, width=1.5), "shape": "hv"},
        name=one.label,
        legendgroup=one.run.id,
        showlegend=legend,
        meta=meta(one),
        hovertemplate="%{y:,} after operation %{x}",
    )


def _worst(one: Series, column: str, legend: bool) -> go.Scatter:
    table = worst_operation(one)
    return go.Scatter(
        x=table["seq"].to_numpy(),
        y=table[column].to_numpy(),
        mode="markers",
        marker={
            "color": one.style.colour,
            "symbol": one.style.symbol,
            "size": 12,
            "line": {"width": 1.5, "color": "#fff"},
        },
        name=f"{one.label} worst",
        legendgroup=f"{one.run.id} worst",
        showlegend=legend,
        meta=meta(one),
        hovertemplate="worst: operation %{x}, %{y:,}",
    )


def worst_operation(one: Series) -> pl.DataFrame:
    """The row of the measured allocation with the longest critical section.

    By the wire, or by DWT where the wire has none; no row without a measured allocation.
    """
    longest = one.run.measured_allocations.sort(
        "wire_critical_samples", "dwt_cycles", descending=True, nulls_last=True, maintain_order=True
    )
    return longest.head(1)
