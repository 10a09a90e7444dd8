"""Agreement: the wire and DWT on the same operation, and how far they may differ."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from dashboards.figures.chart import Chart, make_chart, per_series, points
from dashboards.formatting import grouped
from dashboards.loaded.palette import MUTED
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import meta


def agreement(series: Sequence[Series]) -> Chart | None:
    """Wire minus DWT of every critical section, with the tolerance. None without any."""
    tables = [one.run.operations.drop_nulls("disagreement_cycles") for one in series]
    if not any(len(table) for table in tables):
        return None
    titles = [f"{one.label}: wire minus DWT" for one in series]
    spacing = 0.2 / len(series)
    figure = make_subplots(len(series), 1, shared_xaxes=True, vertical_spacing=spacing, subplot_titles=titles)
    for row, (one, table) in enumerate(zip(series, tables, strict=True), start=1):
        figure.add_trace(_differences(one, table), row=row, col=1)
        _band(figure, row, one.run.manifest.agreement.tolerance_cycles)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    figure.update_xaxes(title_text="operation (seq)", rangemode="tozero", row=len(series), col=1)
    figure.update_yaxes(title_text="cycles")
    counted = per_series(series, [len(table) for table in tables], "critical sections")
    explanation = (
        f"{_outside(series, tables)} The constant cost of the markers, calibrated on empty sections of the "
        "same run, is removed. The shaded band is the tolerance."
    )
    height = 80 + 170 * len(series)
    title = "Agreement of wire and DWT"
    chart = make_chart("agreement", title, series, counted, explanation, figure, height)
    figure.update_layout(showlegend=False, margin={"t": 30})
    return chart


def _differences(one: Series, table: pl.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=table["seq"].to_numpy(),
        y=table["disagreement_cycles"].to_numpy(),
        mode="markers",
        marker=points(one, size=4, opacity=0.5),
        name=one.label,
        meta=meta(one),
        hovertemplate="%{y:+.3f} cycles<br>operation %{x}",
    )


def _band(figure: go.Figure, row: int, tolerance: float | None) -> None:
    """The tolerance. Room around it shows both edges even where all differences are zero."""
    if not tolerance:
        return
    band = {"fillcolor": MUTED, "opacity": 0.1, "line_width": 0, "layer": "below"}
    figure.add_hrect(y0=-tolerance, y1=tolerance, row=row, col=1, **band)
    room = go.Scatter(x=[0, 0], y=[-1.2 * tolerance, 1.2 * tolerance], mode="markers", marker={"opacity": 0})
    figure.add_trace(room.update(hoverinfo="skip", showlegend=False), row=row, col=1)


def _outside(series: Sequence[Series], tables: Sequence[pl.DataFrame]) -> str:
    phrases = []
    for one, table in zip(series, tables, strict=True):
        tolerance = one.run.manifest.agreement.tolerance_cycles
        if tolerance is None:
            phrases.append(f"{one.name}: no tolerance was recorded")
            continue
        outside = int((table["disagreement_cycles"].abs() > tolerance).sum())
        phrases.append(
            f"{one.name}: {grouped(outside)} of {grouped(len(table))} beyond ±{tolerance:.2f} cycles"
        )
    return "; ".join(phrases) + "."
