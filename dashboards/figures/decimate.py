"""Long traces drawn in part, so that a figure of a million points stays fluid. No maximum is lost.

The width of a plot is divided into buckets about as wide as a pixel. Of a line each bucket keeps
its first, last, least and greatest point: the picture is that of all points. Of a cloud each bucket
is divided in height too, and each cell keeps its greatest point, each bucket also its least. What
was left out is in the run folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dashboards.figures.chart import Chart
from dashboards.figures.figure import Figure, Trace
from dashboards.formatting import grouped

COLUMNS = 1_500
"""Buckets across a line: more than a plot has pixels."""
CLOUD_COLUMNS, CLOUD_ROWS = 500, 40
"""Cells of a cloud of points: a marker is larger than one."""
LONG = 8_000
"""A trace with more points is drawn in part."""

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Whatever has a value for each point.
_OF_EACH_POINT = (
    *("x", "y", "customdata", "text", "hovertext", "ids"),
    *("marker.color", "marker.size", "marker.symbol"),
    *("error_x.array", "error_x.arrayminus", "error_y.array", "error_y.arrayminus"),
)


def thinned(chart: Chart) -> Chart:
    """`chart` with its long traces thin, and a subtitle that says so."""
    drawn, points = thin(chart.figure)
    if not points:
        return chart
    text = f"drawn in part, every maximum kept: {grouped(drawn)} of {grouped(points)} points"
    return replace(chart, subtitle=f"{chart.subtitle} · {text}")


def thin(figure: Figure) -> tuple[int, int]:
    """Takes points out of the long traces of `figure`; how many they have now, and had.

    The figure has then as many points as its pixels can show. Traces that are short, or whose
    points are no numbers, stay as they are.
    """
    drawn = points = 0
    for trace in figure.data:
        if (rows := _rows(trace, figure.layout)) is None:
            continue
        n = len(trace["y"])
        drawn, points = drawn + len(rows), points + n
        for name in _OF_EACH_POINT:
            within, _, last = name.rpartition(".")
            holder = trace.get(within, {}) if within else trace
            if _is_of_each(holder.get(last), n):
                holder[last] = _taken(holder[last], rows)
    return drawn, points


def _rows(trace: Trace, layout: dict[str, Any]) -> Rows | None:
    """The rows of a long trace that are drawn; None of another."""
    y = trace.get("y")
    if trace["type"] not in ("scatter", "scattergl") or y is None or len(y) <= LONG:
        return None
    axes = tuple(trace.get(f"{way}axis", way).replace(way, f"{way}axis") for way in "xy")
    kinds = [layout.get(axis, {}).get("type") for axis in axes]
    places = _numbers(trace.get("x", np.arange(len(y))), kinds[0]), _numbers(y, kinds[1])
    if places[0] is None or places[1] is None or len(places[0]) != len(places[1]):
        return None
    return _kept(places[0], places[1], cloud="lines" not in trace.get("mode", "lines"))


def _is_of_each(value: Any, n: int) -> bool:
    return not isinstance(value, str | dict) and hasattr(value, "__len__") and len(value) == n


def _numbers(values: Any, kind: str | None) -> Floats | None:
    """The values as numbers of the axis, missing ones as NaN. None if they are no numbers."""
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        return None
    if kind != "log":
        return numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numbers > 0, np.log10(numbers), np.nan)


def _kept(x: Floats, y: Floats, cloud: bool) -> Rows:
    points = pl.DataFrame({"x": x, "y": y}).with_row_index("row").fill_nan(None)
    column = _bucket("x", points, CLOUD_COLUMNS if cloud else COLUMNS).alias("column")
    row = pl.col("row")
    least, greatest = row.get(pl.col("y").arg_min()), row.get(pl.col("y").arg_max())
    if cloud:
        cell = _bucket("y", points, CLOUD_ROWS).alias("cell")
        cells = points.drop_nulls().group_by(column, cell).agg(greatest)["row"]
        rows = [cells, points.drop_nulls().group_by(column).agg(least)["row"]]
    else:
        # Where a value is missing the line has a gap, and each bucket keeps one.
        gap = row.filter(pl.col("y").is_null()).first()
        parts = {"first": row.first(), "last": row.last(), "least": least, "greatest": greatest, "gap": gap}
        table = points.drop_nulls("x").group_by(column).agg(**parts)
        rows = [table[name] for name in parts]
    return pl.concat(rows).drop_nulls().unique().sort().to_numpy().astype(np.int64)


def _bucket(name: str, points: pl.DataFrame, count: int) -> pl.Expr:
    low, high = points.select(pl.col(name).min().alias("low"), pl.col(name).max().alias("high")).row(0)
    width = (high - low) if low is not None and high > low else 1.0
    share = (pl.col(name) - (low or 0.0)) / width
    return (share * count).floor().clip(0, count - 1).cast(pl.Int32, strict=False)


def _taken(values: Any, rows: Rows) -> Any:
    if isinstance(values, np.ndarray):
        return values[rows]
    return [values[row] for row in rows.tolist()] if isinstance(values, Sequence) else values
