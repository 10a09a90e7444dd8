"""What every figure has in common: title, provenance, verdicts, and one plain look."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from base.microseconds import unit_read
from dashboards.figures.figure import Figure, merge, thin
from dashboards.formatting import grouped, microseconds, samplerate, short
from dashboards.loaded.series import GRID, INK, MUTED, PAPER, Series

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif"

MOST_OF_A_BADGE = 2_000
"""Characters of reasons. The page of the run has them all."""
MOST_NAMED = 6
"""Of more runs than this a subtitle gives the number, not the names."""


@dataclass(frozen=True)
class Chart:
    """A Plotly figure with the plain-text words that belong to it.

    `badges` has one sentence for each run that is not complete: no figure is shown without them. A
    `folded` one is closed until asked for.
    """

    key: str
    title: str
    subtitle: str
    explanation: str
    badges: tuple[str, ...]
    figure: Figure
    folded: bool = False


def make_chart(
    key: str,
    title: str,
    series: Sequence[Series],
    counted: str,
    explanation: str,
    figure: Figure,
    height: int,
) -> Chart:
    """Style `figure` and say where its numbers come from.

    `counted` says how many of what: `n = 768 allocations`. `height` is in pixels.
    """
    style(figure, height)
    return Chart(key, title, f"{counted} · {provenance(series)}", explanation, badges(series), figure)


def style(figure: Figure, height: int) -> None:
    """Give `figure` the look of all figures, and a `height` in pixels."""
    layout = figure.layout
    axes = {"xaxis", "yaxis"} | {name for name in layout if name.startswith(("xaxis", "yaxis"))}
    merge(layout, deepcopy({**_LOOK, "height": height}))
    for axis in axes:
        merge(layout.setdefault(axis, {}), deepcopy(_AXIS))


_AXIS: dict[str, Any] = {
    "gridcolor": GRID,
    "linecolor": MUTED,
    "showline": True,
    "zeroline": False,
    "ticks": "outside",
    "tickcolor": MUTED,
    "ticklen": 4,
    "automargin": True,
    "separatethousands": True,
    "exponentformat": "none",
    "title": {"standoff": 8, "font": {"size": 13}},
    "tickfont": {"size": 12},
}


_LOOK: dict[str, Any] = {
    "autosize": True,
    "template": {"data": {"scatter": [{"type": "scatter"}]}},
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
}


def thinned(chart: Chart) -> Chart:
    """`chart` with its long traces thin, and a subtitle that says so."""
    drawn, points = thin(chart.figure)
    if not points:
        return chart
    text = f"drawn in part, every maximum kept: {grouped(drawn)} of {grouped(points)} points"
    return replace(chart, subtitle=f"{chart.subtitle} · {text}")


def provenance(series: Sequence[Series]) -> str:
    """Each samplerate and the length of a sample, the ids of the runs while they are few, and what
    was done to their samples.
    """
    rates = sorted({member.run.manifest.samplerate_hz for member in series})
    resolution = ", ".join(f"{samplerate(rate)} (±{microseconds(1e9 / rate)})" for rate in rates)
    runs = f"{'runs' if len(series) > 1 else 'run'} {', '.join(member.run.id for member in series)}"
    if len(series) > MOST_NAMED:
        runs = f"{len(series)} runs"
    return " · ".join(
        dict.fromkeys([resolution, runs, *(words for member in series for words in member.run.adjustments)])
    )


def badges(series: Sequence[Series]) -> tuple[str, ...]:
    """A sentence for each run that is not complete."""
    sentences = []
    for manifest, run_id in ((member.run.manifest, member.run.id) for member in series):
        reasons = " ".join(manifest.reasons) or "no reason was given."
        text = reasons if len(reasons) <= MOST_OF_A_BADGE else f"{reasons[:MOST_OF_A_BADGE]}…"
        if not manifest.complete:
            sentences.append(f"{run_id} is {manifest.verdict}: {text}")
    return tuple(sentences)


def per_series(series: Sequence[Series], counts: Sequence[int], what: str) -> str:
    """`n = 768 seglist, 768 tlsf allocations`, shortened where all counts are equal."""
    if len(set(counts)) == 1:
        each = " each" if len(counts) > 1 else ""
        return f"n = {grouped(counts[0])} {what}{each}"
    if len(series) > MOST_NAMED:
        return f"n = {grouped(min(counts))} to {grouped(max(counts))} {what} each"
    listed = ", ".join(f"{grouped(n)} {member.name}" for member, n in zip(series, counts, strict=True))
    return f"n = {listed} {what}"


def with_maximum(series: Series, value: object, unit: str, at_least: str = "") -> str:
    """A run's name in a legend: `seglist, max 40.79 µs`. `at_least` is that of the summary."""
    if not isinstance(value, (int, float)):
        return series.label
    return f"{series.label}, max {at_least}{short(float(value), unit)} {unit_read(unit)}".rstrip()


WHOLE = "%{hovertext}"
"""In what hovering tells: a time with all that is known of it, in ns. paint.js fills it in."""


def in_us(values_ns: pl.Series | npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Times in µs, as all axes have them."""
    return np.asarray(values_ns, np.float64) / 1000


def meta(series: Series, **more: object) -> dict[str, Any]:
    """The `meta` of a trace whose points a click opens: its run, and `more`.

    With `ns`, the letter of an axis whose values are times in µs, hovering tells WHOLE. With
    `shared` a legend's entry stands for all runs: the first shown has it.
    """
    return {"run": series.run.id, **entry(series, **more)}


def entry(series: Series, **more: object) -> dict[str, Any]:
    """The same of a trace of a run without points to click: the picker hides it with its run."""
    return {"entry": series.style.entry, **more}


def beside(series: Series, words: str) -> dict[str, Any]:
    """Of a further trace of a run: a name, and no entry of its own in the legend."""
    return {"name": f"{series.label} {words}", "legendgroup": series.run.id, "showlegend": False}


def points(series: Series, size: float, opacity: float | None = 0.55) -> dict[str, Any]:
    """The marker of single measurements."""
    looks = {"color": series.style.colour, "symbol": series.style.symbol, "size": size}
    return looks if opacity is None else {**looks, "opacity": opacity}


def line(series: Series, width: float = 2, dash: str = "") -> dict[str, Any]:
    """The line through the values that count; with a `dash`, one that means something by it."""
    return {"color": series.style.colour, "dash": dash or series.style.dash, "width": width}
