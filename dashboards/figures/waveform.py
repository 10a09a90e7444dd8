"""The eight channels around the worst critical section of each run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboards.chart import Chart, make_chart
from dashboards.formatting import grouped
from dashboards.palette import INK, MUTED
from dashboards.series import Series
from dashboards.windows import Window, operation_window, worst_operation

LANE = 1.45
_ALLOCATOR_CHANNELS = ("CRIT", "OP")


def waveform(series: Sequence[Series]) -> Chart | None:
    """The window of the worst operation of each run, one below the other on one scale of time. None without any."""
    shown = [
        (one, seq, window)
        for one in series
        if (seq := worst_operation(one.run)) is not None
        and (window := operation_window(one.run, seq)) is not None
    ]
    if not shown:
        return None
    titles = [f"{one.label}: operation {seq}" for one, seq, _ in shown]
    figure = make_subplots(
        rows=len(shown), cols=1, shared_xaxes=True, vertical_spacing=0.16 / len(shown), subplot_titles=titles
    )
    for row, (one, _, window) in enumerate(shown, start=1):
        _draw(figure, row, one, window)
    figure.update_xaxes(title_text="time from the rising edge of OP (µs)", row=len(shown), col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    explanation = (
        "The shading is the critical section. A STIM edge inside it is answered by ISR only after its end, a CTRL "
        "edge by CISR at once."
    )
    counted = f"window of {', '.join(grouped(window.end - window.start) for _, _, window in shown)} samples"
    height = 90 + 270 * len(shown)
    drawn = [one for one, _, _ in shown]
    chart = make_chart(
        "waveform", "The worst critical section, as captured", drawn, counted, explanation, figure, height
    )
    figure.update_layout(showlegend=False, margin={"t": 30})
    figure.update_yaxes(showgrid=False, ticks="", showline=False)
    return chart


def panel(series: Sequence[Series]) -> go.Figure:
    """Empty lanes of the same look, which the report's script fills with the selected window.

    Each trace's `meta` says which channel it shows, at which height, and whether in the allocator's colour.
    """
    channels = next((edges.channels for one in series if (edges := one.run.edges) is not None), ())
    figure = go.Figure([_lane(name, channel, len(channels)) for channel, name in enumerate(channels)])
    chart = make_chart("panel", "", series, "", "", figure, height=270)
    figure.update_layout(showlegend=False, margin={"t": 6, "b": 44})
    figure.update_xaxes(title_text="time (µs)")
    _name_lanes(figure, channels)
    return chart.figure


def levels(
    window: Window, channel: int, samplerate_hz: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Times in µs from the window's zero, and levels, of one channel: its changes and both ends, shape (points,)."""
    level = (window.word >> channel).astype(np.int64) & 1
    kept = np.append(True, level[1:] != level[:-1])
    sample = np.append(window.sample[kept], window.end)
    return (sample - window.zero) * 1e6 / samplerate_hz, np.append(level[kept], level[-1])


def _base(channel: int, channels: int) -> float:
    """Channel 0 is the topmost lane."""
    return (channels - 1 - channel) * LANE


def _lane(name: str, channel: int, channels: int) -> go.Scatter:
    return go.Scatter(
        mode="lines",
        line={"shape": "hv", "width": 1.4, "color": MUTED if name == "SYNC" else INK},
        name=escape(name, quote=False),
        hovertemplate="%{x:.3f} µs",
        meta={"channel": channel, "base": _base(channel, channels), "allocator": name in _ALLOCATOR_CHANNELS},
    )


def _name_lanes(figure: go.Figure, channels: Sequence[str], **subplot: int) -> None:
    bases = [_base(channel, len(channels)) for channel in range(len(channels))]
    figure.update_yaxes(
        tickvals=[base + 0.5 for base in bases],
        ticktext=[escape(name, quote=False) for name in channels],
        range=[-0.3, max(bases, default=0) + 1.3],
        showgrid=False,
        ticks="",
        showline=False,
        **subplot,
    )


def _draw(figure: go.Figure, row: int, one: Series, window: Window) -> None:
    edges = one.run.edges
    assert edges is not None  # a window was cut from it
    for channel, name in enumerate(edges.channels):
        time_us, level = levels(window, channel, edges.samplerate_hz)
        if name == "CRIT":
            _shade(figure, row, one, time_us, level)
        lane = _lane(name, channel, len(edges.channels))
        lane.update(x=time_us, y=level + _base(channel, len(edges.channels)))
        if name in _ALLOCATOR_CHANNELS:
            lane.line.color = one.style.colour
        figure.add_trace(lane, row=row, col=1)
    _name_lanes(figure, edges.channels, row=row, col=1)


def _shade(
    figure: go.Figure, row: int, one: Series, time_us: npt.NDArray[np.float64], level: npt.NDArray[np.int64]
) -> None:
    for start, end, high in zip(time_us[:-1], time_us[1:], level[:-1], strict=True):
        if high:
            figure.add_vrect(
                x0=start, x1=end, fillcolor=one.style.tint(0.1), line_width=0, layer="below", row=row, col=1
            )
