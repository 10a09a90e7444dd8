"""The heap over the run: live blocks and bytes, with the worst operation marked."""

from __future__ import annotations

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from dashboards.figures.chart import Chart, line, make_chart
from dashboards.formatting import grouped
from dashboards.loaded.palette import PAPER
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import meta

_ROWS = (("live", "live blocks"), ("bytes_in_use", "bytes in use"))


def heap_state(one: Series) -> Chart | None:
    """Live blocks and payload bytes after each operation. None without operations."""
    if one.run.operations.is_empty():
        return None
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08)
    for row, (column, axis) in enumerate(_ROWS, start=1):
        figure.add_traces([_course(one, column), _worst(one, column)], rows=row, cols=1)
        figure.update_yaxes(title_text=axis, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text="operation (seq)", row=2, col=1)
    counted = f"n = {grouped(len(one.run.operations))} operations"
    explanation = (
        "The large marker is the operation with the longest critical section among the measured allocations."
    )
    chart = make_chart(f"heap-{one.style.entry}", one.name, [one], counted, explanation, figure, height=360)
    figure.update_layout(showlegend=False)
    return chart


def _course(one: Series, column: str) -> go.Scatter:
    table = one.run.operations
    return go.Scatter(
        x=table["seq"].to_numpy(),
        y=table[column].to_numpy(),
        mode="lines",
        line={**line(one, width=1.5), "shape": "hv"},
        name=one.label,
        meta=meta(one),
        hovertemplate="%{y:,} after operation %{x}",
    )


def _worst(one: Series, column: str) -> go.Scatter:
    table = worst_operation(one)
    return go.Scatter(
        x=table["seq"].to_numpy(),
        y=table[column].to_numpy(),
        mode="markers",
        marker={
            "color": one.style.colour,
            "symbol": one.style.symbol,
            "size": 12,
            "line": {"width": 1.5, "color": PAPER},
        },
        name=f"{one.label} worst",
        meta=meta(one),
        hovertemplate="worst: operation %{x}, %{y:,}",
    )


def worst_operation(one: Series) -> pl.DataFrame:
    """The row of the measured allocation with the longest critical section.

    By the wire, or by DWT where the wire has none; no row without a measured allocation.
    """
    allocations = one.run.measured_allocations
    for column in ("wire_critical_samples", "dwt_cycles"):
        longest = allocations[column].max()
        if longest is not None:
            allocations = allocations.filter(pl.col(column) == longest)
    return allocations.head(1)
