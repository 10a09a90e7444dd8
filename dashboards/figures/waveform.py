"""Waveforms: the levels of each channel in a lane of its own, around the worst of a run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from base.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.figures.chart import Chart, make_chart
from dashboards.figures.figure import TENTHS_OF_NS, Figure, scatter
from dashboards.formatting import grouped
from dashboards.loaded.series import INK, MUTED, Series
from dashboards.waveforms import windows_of, worst_key

LANE_HEIGHT = 1.45
SHADED_MOST = 400
"""With more critical sections in view than this none is shaded: they would be one grey area."""
_ALLOCATOR_CHANNELS = ("CRIT", "OP")
_HEIGHT_PX = 270
_EXPLANATIONS = {
    CRITICAL.key: "Shaded: critical. Time counts from the start of the operation.",
    LATENCY.key: "ISR answers a STIM edge in the shaded critical section only after its end; CISR answers a "
    "CTRL edge at once.",
}


def empty_panel(series: Series) -> Figure:
    """Lanes without levels. The report's script fills them with the selected window.

    Each trace's `meta` says which channel it shows, at which height, and whether in the
    allocator's colour.
    """
    edges = series.run.edges
    figure = _lanes(edges.channels if edges else ())
    make_chart("panel", "", [series], "", "", figure, height=_HEIGHT_PX)
    figure.update_layout(showlegend=False, margin={"t": 6, "b": 44})
    figure.update_yaxes(ticks="", showline=False)
    return figure


def _lanes(channels: Sequence[str]) -> Figure:
    """Lanes without levels, with their names."""
    bases = [(len(channels) - 1 - channel) * LANE_HEIGHT for channel in range(len(channels))]
    names = [escape(name, quote=False) for name in channels]
    figure = Figure(
        *(
            scatter(
                mode="lines",
                line={"shape": "hv", "width": 1.4, "color": MUTED if name == "SYNC" else INK},
                name=name,
                hovertemplate="%{x:.3f} µs",
                meta={
                    "channel": channel,
                    "base": base,
                    "allocator": name in _ALLOCATOR_CHANNELS,
                    "over": {"x": TENTHS_OF_NS, "y": 100},
                },
            )
            for channel, (name, base) in enumerate(zip(names, bases, strict=True))
        )
    )
    figure.update_xaxes(title_text="time (µs)")
    figure.update_yaxes(
        tickvals=[base + 0.5 for base in bases],
        ticktext=names,
        range=[-0.3, max(bases, default=0) + 1.3],
        showgrid=False,
    )
    return figure


def worst_waveform(series: Series, quantity: Quantity) -> Chart | None:
    """The window of a run's longest critical section of an allocation, or of its longest interrupt
    latency, as `quantity` says; critical sections are shaded. None without a sample or a capture.
    """
    edges, worst = series.run.edges, worst_key(series.run, quantity)
    window = windows_of(series.run, [worst]).get(worst) if worst else None
    if edges is None or worst is None or window is None:
        return None
    figure, shades = _lanes(edges.channels), []
    looks = {"fillcolor": series.style.tint(0.12), "line": {"width": 0}, "layer": "below"}
    place = {"type": "rect", "xref": "x", "yref": "y domain", "y0": 0, "y1": 1}
    for channel, lane in enumerate(figure.data):
        # The changes of the channel, and both ends of the window.
        level = (window.word >> channel).astype(np.int64) & 1
        changed = np.append(True, level[1:] != level[:-1])
        level = np.append(level[changed], level[-1])
        sample = np.append(window.sample[changed], window.end)
        time_us = (sample - window.zero) * 1e6 / edges.samplerate_hz
        lane |= {"x": time_us, "y": level + lane["meta"]["base"]}
        if lane["meta"]["allocator"]:
            lane["line"]["color"] = series.style.colour
        if edges.channels[channel] == "CRIT" and np.count_nonzero(level) <= SHADED_MOST:
            shades = [
                {**place, "x0": start, "x1": end, **looks}
                for start, end, high in zip(time_us[:-1], time_us[1:], level[:-1], strict=True)
                if high
            ]
    figure.update_layout(shapes=shades)
    where = f"sample {worst[1:]}" if worst.startswith("@") else f"operation {worst}"
    counted = f"n = {grouped(window.end - window.start)} samples"
    title, key = f"{series.name}: {where}", "pulse" if quantity is CRITICAL else "interrupt"
    key, why = f"{key}-{series.style.entry}", _EXPLANATIONS[quantity.key]
    chart = make_chart(key, title, [series], counted, why, figure, _HEIGHT_PX)
    figure.update_layout(showlegend=False)
    # Lanes have names, not values.
    figure.update_yaxes(ticks="", showline=False)
    return chart
