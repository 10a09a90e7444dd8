"""Waveforms: the levels of each channel in a lane of its own, around the worst of a run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from base.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.figures.chart import Chart, make_chart
from dashboards.figures.figure import TENTHS_OF_NS, Figure, Trace, scatter
from dashboards.formatting import grouped
from dashboards.loaded.series import INK, MUTED, Series
from dashboards.waveforms import Window, describe, window_of, worst_key

LANE_HEIGHT = 1.45
SHADED_MOST = 400
"""With more critical sections in view than this none is shaded: they would be one grey area."""
_ALLOCATOR_CHANNELS = ("CRIT", "OP")


def levels(
    window: Window, channel: int, samplerate_hz: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Times in µs from the window's zero, and the levels there; both of shape (points,).

    The points are the changes of `channel`, and both ends of the window.
    """
    level = (window.word >> channel).astype(np.int64) & 1
    array = np.append(True, level[1:] != level[:-1])
    sample = np.append(window.sample[array], window.end)
    return (sample - window.zero) * 1e6 / samplerate_hz, np.append(level[array], level[-1])


def draw_window(figure: Figure, series: Series, window: Window) -> None:
    """Draw a window of the run's capture, its critical sections shaded."""
    edges = series.run.edges
    assert edges is not None  # the window was cut from it
    for channel, name in enumerate(edges.channels):
        time_us, level = levels(window, channel, edges.samplerate_hz)
        lane = _lane(name, channel, len(edges.channels))
        lane.update(x=time_us, y=level + _base(channel, len(edges.channels)))
        if name in _ALLOCATOR_CHANNELS:
            lane["line"]["color"] = series.style.colour
        figure.add(lane)
        if name == "CRIT":
            figure.update_layout(shapes=_shades(series, time_us, level))
    _name_lanes(figure, edges.channels)


def empty_panel(series: Sequence[Series]) -> Figure:
    """Lanes without levels. The report's script fills them with the selected window.

    Each trace's `meta` says which channel it shows, at which height, and whether in the
    allocator's colour.
    """
    channels = next((edges.channels for member in series if (edges := member.run.edges) is not None), ())
    figure = Figure(*(_lane(name, channel, len(channels)) for channel, name in enumerate(channels)))
    make_chart("panel", "", series, "", "", figure, height=270)
    figure.update_layout(showlegend=False, margin={"t": 6, "b": 44})
    figure.update_xaxes(title_text="time (µs)")
    _name_lanes(figure, channels)
    return figure


def _base(channel: int, channels: int) -> float:
    return (channels - 1 - channel) * LANE_HEIGHT


def _lane(name: str, channel: int, channels: int) -> Trace:
    return scatter(
        mode="lines",
        line={"shape": "hv", "width": 1.4, "color": MUTED if name == "SYNC" else INK},
        name=escape(name, quote=False),
        hovertemplate="%{x:.3f} µs",
        meta={
            "channel": channel,
            "base": _base(channel, channels),
            "allocator": name in _ALLOCATOR_CHANNELS,
            "over": {"x": TENTHS_OF_NS, "y": 100},
        },
    )


def _name_lanes(figure: Figure, channels: Sequence[str]) -> None:
    bases = [_base(channel, len(channels)) for channel in range(len(channels))]
    figure.update_yaxes(
        tickvals=[base + 0.5 for base in bases],
        ticktext=[escape(name, quote=False) for name in channels],
        range=[-0.3, max(bases, default=0) + 1.3],
        showgrid=False,
        ticks="",
        showline=False,
    )


def _shades(
    series: Series, time_us: npt.NDArray[np.float64], level: npt.NDArray[np.int64]
) -> list[dict[str, Any]]:
    """The critical sections, from top to bottom of the plot."""
    if np.count_nonzero(level) > SHADED_MOST:
        return []
    looks = {"fillcolor": series.style.tint(0.12), "line": {"width": 0}, "layer": "below"}
    place = {"type": "rect", "xref": "x", "yref": "y domain", "y0": 0, "y1": 1}
    return [
        {**place, "x0": start, "x1": end, **looks}
        for start, end, high in zip(time_us[:-1], time_us[1:], level[:-1], strict=True)
        if high
    ]


_HEIGHT_PX = 270


def worst_critical_section(series: Series) -> Chart | None:
    """The window of the longest critical section of an allocation. None without any."""
    explanation = "Shaded: critical. Time counts from the start of the operation."
    return _waveform("pulse", series, CRITICAL, explanation)


def worst_interrupt(series: Series) -> Chart | None:
    """The window of the longest interrupt latency. None without any."""
    explanation = (
        "ISR answers a STIM edge in the shaded critical section only after its end; CISR answers a CTRL edge "
        "at once."
    )
    return _waveform("interrupt", series, LATENCY, explanation)


def _waveform(key: str, series: Series, quantity: Quantity, explanation: str) -> Chart | None:
    """Lanes of a run that has a sample of `quantity` and a capture."""
    worst = worst_key(series.run, quantity)
    window = window_of(series.run, worst) if worst else None
    if worst is None or window is None:
        return None
    figure = Figure()
    draw_window(figure, series, window)
    figure.update_xaxes(title_text="time (µs)")
    counted = f"n = {grouped(window.end - window.start)} samples"
    title = f"{series.name}: {describe(worst)}"
    key = f"{key}-{series.style.entry}"
    chart = make_chart(key, title, [series], counted, explanation, figure, _HEIGHT_PX)
    figure.update_layout(showlegend=False)
    # Lanes have names, not values.
    figure.update_yaxes(showgrid=False, ticks="", showline=False)
    return chart
