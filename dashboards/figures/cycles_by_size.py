"""Cycles against the size of a block, fresh and behind fragments: two lines of medians each."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboards.figures.chart import Chart, line, make_chart, per_series, points
from dashboards.loaded.by_size import OfSize, by_size
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import entry


def cycles_by_size(series: Sequence[Series]) -> Chart | None:
    """Medians as lines and maxima as points, by size. None for any scenario but `sizes`."""
    found = [by_size(one.run) for one in series]
    if not any(found):
        return None
    figure = go.Figure()
    for one, sizes in zip(series, found, strict=True):
        for state in ("fresh", "fragmented"):
            figure.add_trace(_medians(one, sizes, state))
            figure.add_trace(_maxima(one, sizes, state))
    figure.update_xaxes(title_text="size of the block (bytes)", type="log", dtick="D2")
    figure.update_yaxes(title_text="critical section by DWT (cycles)", rangemode="tozero")
    counted = per_series(series, [len(one.run.measured_allocations) for one in series], "allocations")
    explanation = "Lines join medians, points are maxima. Thin: a fresh heap; thick: behind fragments."
    return make_chart("sizes", "Cycles by size", series, counted, explanation, figure, height=460)


def _medians(one: Series, sizes: Sequence[OfSize], state: str) -> go.Scatter:
    return go.Scatter(
        x=[each.size for each in sizes],
        y=[getattr(each, f"{state}_median") for each in sizes],
        mode="lines",
        line=line(one, width=1 if state == "fresh" else 3),
        name=f"{one.label} {state}",
        legendgroup=one.run.id,
        meta=entry(one),
        hovertemplate="%{x:,} bytes, median: %{y:,} cycles",
    )


def _maxima(one: Series, sizes: Sequence[OfSize], state: str) -> go.Scatter:
    return go.Scatter(
        x=[each.size for each in sizes],
        y=[getattr(each, f"{state}_max") for each in sizes],
        mode="markers",
        marker=points(one, size=5 if state == "fresh" else 9),
        name=f"{one.label} {state} max",
        legendgroup=one.run.id,
        showlegend=False,
        meta=entry(one),
        hovertemplate="%{x:,} bytes, max: %{y:,} cycles",
    )
