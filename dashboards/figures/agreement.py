"""Agreement: the wire and DWT on the same operation, and how far they may differ."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl

from dashboards.chart import Chart, make_chart, per_series, points
from dashboards.formatting import grouped
from dashboards.palette import MUTED
from dashboards.selection import meta, operation_keys
from dashboards.series import Series


def agreement(series: Sequence[Series]) -> Chart | None:
    """Wire minus DWT of every critical section, with the tolerance. None without any."""
    tables = [one.run.operations.drop_nulls("disagreement_cycles") for one in series]
    if not any(len(table) for table in tables):
        return None
    figure = go.Figure()
    for one, table in zip(series, tables, strict=True):
        figure.add_trace(_differences(one, table))
    tolerances = sorted(
        {t for one in series if (t := one.run.manifest.agreement.tolerance_cycles) is not None}
    )
    for tolerance in tolerances:
        _band(figure, tolerance)
    figure.update_xaxes(title_text="operation (seq)")
    figure.update_yaxes(title_text="wire minus DWT (cycles)")
    counted = per_series(series, [len(table) for table in tables], "critical sections")
    explanation = (
        f"{_outside(series, tables)} The constant cost of the markers, calibrated on empty sections of the same run, "
        "is removed. The shaded band is the tolerance."
    )
    return make_chart(
        "agreement", "Agreement of wire and DWT", series, counted, explanation, figure, height=400
    )


def _differences(one: Series, table: pl.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=table["seq"].to_numpy(),
        y=table["disagreement_cycles"].to_numpy(),
        mode="markers",
        marker=points(one, size=4, opacity=0.5),
        name=one.label,
        meta=meta(one),
        customdata=operation_keys(table["seq"]),
        hovertemplate="%{y:+.3f} cycles<br>operation %{customdata}",
    )


def _band(figure: go.Figure, tolerance: float) -> None:
    figure.add_hrect(y0=-tolerance, y1=tolerance, fillcolor=MUTED, opacity=0.1, line_width=0, layer="below")
    for edge in (-tolerance, tolerance):
        figure.add_hline(y=edge, line={"color": MUTED, "width": 1, "dash": "dot"}, layer="below")
    # Both edges of the band belong in the picture, also where all differences are zero.
    figure.add_trace(
        go.Scatter(
            x=[0, 0], y=[-tolerance * 1.3, tolerance * 1.3], mode="markers", marker={"opacity": 0}, hoverinfo="skip",
            showlegend=False,
        )
    )  # fmt: skip


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
