"""The waveform of a sample, as much of it as is in view: from one sample to the whole capture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dashboards.figures.chart import style
from dashboards.figures.decimate import thin
from dashboards.figures.figure import Figure
from dashboards.figures.waveform import draw_window
from dashboards.loaded.series import Series
from dashboards.waveforms import Window, span, window_of

HEIGHT = 360
AROUND = 1.0
"""So many widths of the view are drawn on either side of it: a short move needs no new ones."""


def first_window(series: Series, key: str) -> Window | None:
    """The window around the sample `key`; None where run or capture do not have it."""
    try:
        return window_of(series.run, key)
    except ValueError:  # a key that is no number
        return None


def figure(series: Series, window: Window) -> dict[str, Any]:
    """All channels in `window`, as Plotly's script takes it."""
    drawn = Figure()
    draw_window(drawn, series, window)
    style(drawn, HEIGHT)
    thin(drawn)
    drawn.update_layout(showlegend=False, margin={"t": 18, "b": 44}, uirevision="waveform")
    drawn.update_xaxes(title_text="time (µs)", autorange=False, range=_view(series, window))
    drawn.update_yaxes(fixedrange=True, showgrid=False, ticks="", showline=False)
    document: dict[str, Any] = drawn.to_dict()
    return document


def in_view(series: Series, zero: int, view: tuple[float, float]) -> Window | None:
    """The window of what is in view, in µs from sample `zero`, and some on either side of it."""
    edges = series.run.edges
    if edges is None or abs(zero) > edges.total_samples or not np.isfinite(view).all() or view[1] <= view[0]:
        return None
    width = view[1] - view[0]
    ends = [
        zero + us * edges.samplerate_hz / 1e6 for us in (view[0] - AROUND * width, view[1] + AROUND * width)
    ]
    low, high = (round(min(max(end, 0.0), float(edges.total_samples))) for end in ends)
    return replace(span(edges, low, high), zero=zero) if high > low else None


def _view(series: Series, window: Window) -> list[float]:
    edges = series.run.edges
    assert edges is not None  # the window was cut from it
    return [(end - window.zero) * 1e6 / edges.samplerate_hz for end in (window.start, window.end)]
