"""What every figure has in common: title, provenance, verdicts, one plain look, and a bounded
number of points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
import polars as pl

from base.microseconds import unit_read
from dashboards.blocks import Chart
from dashboards.formatting import grouped, microseconds, samplerate, short
from dashboards.loaded.series import GRID, INK, MUTED, PAPER, SHADES, Members, Series

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif"

MOST_OF_A_BADGE = 2_000
"""Characters of reasons. The page of the run has them all."""
MOST_NAMED = 6
"""Of more runs than this a subtitle gives the number, not the names."""


def make_chart(
    key: str,
    title: str,
    series: Members,
    counted: str,
    explanation: str,
    figure: go.Figure,
    height: int,
    across: str = "",
    up: str = "",
) -> Chart:
    """Style `figure`, draw its long traces in part, and say where its numbers come from.

    `counted` says how many of what: `n = 768 allocations`. `height` is in pixels, and `across` and
    `up` are the words at its axes.
    """
    style(figure, height, across, up)
    subtitle = f"{counted} · {provenance(series)}"
    drawn, points = thin(figure)
    if points:
        subtitle += f" · drawn in part, every maximum kept: {grouped(drawn)} of {grouped(points)} points"
    return Chart(key, title, subtitle, explanation, figure, badges(series))


Options = dict[str, Any]
"""What Plotly knows of a trace, a layout or a part of them, by its names."""

_AXIS: Options = {
    "gridcolor": GRID,
    "linecolor": MUTED,
    "showline": True,
    "zeroline": False,
    "rangemode": "tozero",
    "ticks": "outside",
    "tickcolor": MUTED,
    "ticklen": 4,
    "automargin": True,
    "separatethousands": True,
    "exponentformat": "none",
    "title": {"standoff": 8, "font": {"size": 13}},
    "tickfont": {"size": 12},
}

LOOK: Options = {
    "autosize": True,
    "font": {"family": FONT, "size": 13, "color": INK},
    "margin": {"l": 68, "r": 18, "t": 12, "b": 52},
    # At the top of the container: the plot makes room for as many lines as the legend takes.
    "legend": {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
    "hoverlabel": {
        "bgcolor": PAPER,
        "font": {"family": FONT, "size": 12, "color": INK},
        "align": "left",
        "namelength": -1,
    },
    "hovermode": "closest",
    "paper_bgcolor": PAPER,
    "plot_bgcolor": PAPER,
    "xaxis": _AXIS,
    "yaxis": _AXIS,
}
"""A template's layout. Colours are tokens, which the page's script resolves."""


def style(figure: go.Figure, height: int, across: str, up: str) -> go.Figure:
    """Give `figure` the look of all figures, a `height` in pixels, and words at its axes."""
    if across:
        figure.update_xaxes(title_text=across)
    if up:
        figure.update_yaxes(title_text=up)
    return figure.update_layout(template={"layout": LOOK}, height=height)


def legended(figure: go.Figure, height: int, across: str, up: str = "", top_px: int = 40) -> go.Figure:
    """The same for a figure with a legend, for which it has room at its top, and whose axes begin
    where its values do.
    """
    axis = {"rangemode": "normal"}
    return style(figure, height, across, up).update_layout(
        margin_t=top_px, showlegend=True, xaxis=axis, yaxis=axis
    )


DIFFERENCES_PX = 380


def differences(layers: Sequence[tuple[str, pl.DataFrame, bool]], up: str) -> go.Figure:
    """The `cycles` by which operations (`seq`) are apart: of layers with a name, open circles where
    they are `doubtful`.
    """
    figure = go.Figure()
    for name, table, doubtful in layers:
        figure.add_scatter(
            x=table["seq"],
            y=table["cycles"],
            name=name,
            mode="markers",
            marker_color=MUTED if doubtful else SHADES[0],
            marker_size=5,
            marker_symbol="circle-open" if doubtful else "circle",
            hovertemplate="operation %{x:,}: %{y:+,} cycles",
        )
    thin(legended(figure, DIFFERENCES_PX, "operation", f"{up} (cycles)"))
    return figure


COLUMNS = 1_500
"""Buckets across a figure: more than a plot has pixels."""
LONG = 8_000
"""A trace with more points is drawn in part."""


def thin(figure: go.Figure) -> tuple[int, int]:
    """Takes points out of the long traces of `figure`; how many they have now, and had.

    The width of the plot is divided into buckets, and each keeps its first, last, least and
    greatest point, so no maximum is lost. What was left out is in the run folder.
    """
    drawn = points = 0
    for trace in figure.data:
        if trace.type != "scatter" or trace.y is None or len(trace.y) <= LONG:
            continue
        n, x = len(trace.y), np.asarray(trace.x, np.float64)
        if figure.layout[(trace.xaxis or "x").replace("x", "xaxis")].type == "log":
            x = np.log10(x)
        column = np.floor((x - x.min()) / (np.ptp(x) or 1) * COLUMNS).clip(max=COLUMNS - 1)
        table = pl.DataFrame({"column": column, "y": np.asarray(trace.y)}).with_row_index("row")
        row, y = pl.col("row"), pl.col("y")
        ends = row.first(), row.last(), row.get(y.arg_min()), row.get(y.arg_max())
        of_each = table.group_by("column").agg(pl.concat_list(ends))["row"].explode()
        rows = of_each.unique().sort().to_numpy()
        for holder, name in ((trace, "x"), (trace, "y"), (trace, "customdata"), (trace.marker, "symbol")):
            values = holder[name]
            if values is not None and not isinstance(values, str):
                holder[name] = np.asarray(values)[rows]
        drawn, points = drawn + len(rows), points + n
    return drawn, points


def provenance(series: Members) -> str:
    """Each samplerate and the length of a sample, and the ids of the runs while they are few."""
    rates = sorted({member.run.manifest.samplerate_hz for member in series})
    resolution = ", ".join(f"{samplerate(rate)} (±{microseconds(1e9 / rate)})" for rate in rates)
    runs = f"{'runs' if len(series) > 1 else 'run'} {', '.join(member.run.id for member in series)}"
    return f"{resolution} · {f'{len(series)} runs' if len(series) > MOST_NAMED else runs}"


def badges(series: Members) -> tuple[str, ...]:
    """A sentence for each run that is not complete."""
    sentences = []
    for manifest, run_id in ((member.run.manifest, member.run.id) for member in series):
        reasons = " ".join(manifest.reasons) or "no reason was given."
        text = reasons if len(reasons) <= MOST_OF_A_BADGE else f"{reasons[:MOST_OF_A_BADGE]}…"
        if not manifest.complete:
            sentences.append(f"{run_id} is {manifest.verdict}: {text}")
    return tuple(sentences)


def per_series(counts: Sequence[int], what: str) -> str:
    """`n = 768 to 770 allocations each`; of a single count only that."""
    ends = " to ".join(dict.fromkeys(map(grouped, (min(counts), max(counts)))))
    return f"n = {ends} {what}{' each' if len(counts) > 1 else ''}"


def with_maximum(series: Series, value: object, unit: str, at_least: str = "") -> str:
    """A run's name in a legend: `seglist, max 40.79 µs`. `at_least` is that of the summary."""
    if not isinstance(value, (int, float)):
        return series.label
    return f"{series.label}, max {at_least}{short(float(value), unit)} {unit_read(unit)}".rstrip()


X_US, Y_US = "%{x:,.4f} µs", "%{y:,.4f} µs"
"""In what hovering tells: a time with all that is known of it, which is a tenth of a ns."""


def in_us(values_ns: pl.Series | npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Times in µs, as all axes have them."""
    return np.asarray(values_ns, np.float64) / 1000


def meta(series: Series, **more: object) -> Options:
    """The `meta` of a trace whose points a click opens: its run, and `more`."""
    return {"run": series.run.id, **entry(series, **more)}


def entry(series: Series, **more: object) -> Options:
    """The same of a trace of a run without points to click: the picker hides it with its run."""
    return {"entry": series.style.entry, **more}


def leading(series: Series, value: object, unit: str, at_least: str = "") -> Options:
    """Of the trace that the legend names, with its maximum; a click opens its points."""
    name = with_maximum(series, value, unit, at_least)
    return {"name": name, "legendgroup": series.run.id, "meta": meta(series)}


def beside(series: Series, words: str) -> Options:
    """Of a further trace of a run: a name, and no entry of its own in the legend; no points to
    click.
    """
    name, own = f"{series.label} {words}", entry(series)
    return {"name": name, "legendgroup": series.run.id, "showlegend": False, "meta": own}


def points(series: Series, size: float, opacity: float = 0.55) -> Options:
    """The marker of single measurements."""
    look = series.style
    return {"color": look.colour, "symbol": look.symbol, "size": size, "opacity": opacity}


def line(series: Series, width: float = 2, dash: str = "") -> Options:
    """The line through the values that count; with a `dash`, one that means something by it."""
    return {"color": series.style.colour, "dash": dash or series.style.dash, "width": width}
