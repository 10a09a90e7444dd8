"""Agreement: the wire and DWT on the same operation, and how far they may differ."""

from __future__ import annotations

import polars as pl

from dashboards.figures.chart import Chart, make_chart, points
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.formatting import grouped
from dashboards.loaded.series import MUTED, Series
from dashboards.waveforms import entry, meta


def agreement(series: Series) -> Chart | None:
    """Wire minus DWT of every critical section, with the tolerance. None without any."""
    table = series.run.operations.drop_nulls("disagreement_cycles")
    if table.is_empty():
        return None
    figure = Figure(_differences(series, table))
    tolerance = series.run.manifest.agreement.tolerance_cycles
    _band(figure, series, tolerance)
    figure.update_xaxes(title_text="operation (seq)", rangemode="tozero")
    figure.update_yaxes(title_text="cycles")
    counted = f"n = {grouped(len(table))} critical sections"
    explanation = (
        f"{_outside(table, tolerance)} The constant cost of the markers, calibrated on empty sections of the "
        "same run, is removed. The shaded band is the tolerance."
    )
    chart = make_chart(
        f"agreement-{series.style.entry}", series.name, [series], counted, explanation, figure, 240
    )
    figure.update_layout(showlegend=False)
    return chart


def _differences(series: Series, table: pl.DataFrame) -> Trace:
    return scatter(
        x=table["seq"].to_numpy(),
        y=table["disagreement_cycles"].to_numpy(),
        mode="markers",
        marker=points(series, size=4, opacity=0.5),
        name=series.label,
        meta=meta(series),
        hovertemplate="%{y:+.3f} cycles<br>operation %{x}",
    )


def _band(figure: Figure, series: Series, tolerance: float | None) -> None:
    """The tolerance. Room around it shows both edges even where all differences are zero."""
    if not tolerance:
        return
    looks = {"fillcolor": MUTED, "opacity": 0.1, "line": {"width": 0}, "layer": "below"}
    place = {"type": "rect", "xref": "x domain", "x0": 0, "x1": 1, "y0": -tolerance, "y1": tolerance}
    figure.update_layout(shapes=[{**place, "yref": "y", **looks}])
    room = scatter(x=[0, 0], y=[-1.2 * tolerance, 1.2 * tolerance], mode="markers", marker={"opacity": 0})
    figure.add({**room, "hoverinfo": "skip", "showlegend": False, "meta": entry(series)})


def _outside(table: pl.DataFrame, tolerance: float | None) -> str:
    if tolerance is None:
        return "No tolerance was recorded."
    outside = int((table["disagreement_cycles"].abs() > tolerance).sum())
    return f"{grouped(outside)} of {grouped(len(table))} beyond ±{tolerance:.2f} cycles."
