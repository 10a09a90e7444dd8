"""A figure as plain values: traces and layout, named as in Plotly's reference of its JSON.

Plotly's own objects check and copy every property at every step: to import and to fill them takes
longer than the rest of a report. Here nothing is checked. The tests hold each figure against those
objects, which must take it as it is and write the same text (dashboards/tests/as_plotly.py).
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Trace = dict[str, Any]

TENTHS_OF_NS = 10_000
"""In a µs: more than hovering tells."""


def scatter(**properties: object) -> Trace:
    """A trace of points or lines; properties that are None are left out."""
    return {"type": "scatter", **properties}


def bar(**properties: object) -> Trace:
    """A trace of bars."""
    return {"type": "bar", **properties}


class Figure:
    """`data` are the traces, `layout` is all else; both may be changed at any time."""

    def __init__(self, *traces: Trace) -> None:
        self.data: list[Trace] = []
        self.layout: dict[str, Any] = {}
        self._plots = 0
        self.add(*traces)

    @classmethod
    def of_plots(cls, count: int, *, spacing: float, across: bool = False) -> Figure:
        """A figure of plots one below the other, which have the x axis of the last; or `across`,
        from left to right, with the y axis of the first. They are `spacing` apart: a share of the
        figure.
        """
        figure = cls()
        figure._plots = count
        size = (1.0 - spacing * (count - 1)) / count
        for place in range(count):
            begin = (size + spacing) * (place if across else count - 1 - place)
            share, whole = [begin, begin + size], [0.0, 1.0]
            x: dict[str, Any] = {"anchor": f"y{_suffix(place)}", "domain": share if across else whole}
            y: dict[str, Any] = {"anchor": f"x{_suffix(place)}", "domain": whole if across else share}
            if across and place:
                y |= {"matches": "y", "showticklabels": False}
            elif not across and place < count - 1:
                x |= {"matches": f"x{_suffix(count - 1)}", "showticklabels": False}
            figure.layout |= {f"xaxis{_suffix(place)}": x, f"yaxis{_suffix(place)}": y}
        return figure

    def add(self, *traces: Trace, plot: int = 0) -> None:
        """Adds traces, to one of several plots: the `plot`-th, from 0."""
        axes = {f"{way}axis": f"{way}{_suffix(plot)}" for way in "xy"} if self._plots else {}
        for trace in traces:
            self.data.append({name: value for name, value in trace.items() if value is not None} | axes)

    def update_layout(self, **properties: object) -> None:
        """Sets properties of the layout, and those within them."""
        merge(self.layout, properties)

    def update_xaxes(self, title_text: str | None = None, *, plot: int | None = None, **more: object) -> None:
        """Sets properties of all x axes, or of that of one plot."""
        self._update_axes("xaxis", title_text, plot, more)

    def update_yaxes(self, title_text: str | None = None, *, plot: int | None = None, **more: object) -> None:
        """Sets properties of all y axes, or of that of one plot."""
        self._update_axes("yaxis", title_text, plot, more)

    def _update_axes(
        self, name: str, title_text: str | None, plot: int | None, more: dict[str, object]
    ) -> None:
        title = {} if title_text is None else {"title": {"text": title_text}}
        for place in range(max(self._plots, 1)) if plot is None else (plot,):
            merge(self.layout.setdefault(f"{name}{_suffix(place)}", {}), {**title, **more})

    def to_dict(self) -> dict[str, Any]:
        """What Plotly's script takes."""
        document: dict[str, Any] = _listed({"data": self.data, "layout": self.layout})
        return document

    def to_json(self) -> str:
        """The same as unpack.js reads it: rows of numbers and keys are the whole steps from one to
        the next, and what to divide them by. Raises ValueError for a value that is no number.
        """
        # Each trace by itself: the numbers of all of them as Python's take hundreds of megabytes.
        data = ",".join(_dumped(_in_steps(trace)) for trace in self.data)
        return f'{{"data":[{data}],"layout":{_dumped(self.layout)}}}'


def _suffix(place: int) -> str:
    """What the names of a plot's axes end in; empty for the first."""
    return str(place + 1) if place else ""


def merge(properties: dict[str, Any], more: dict[str, Any]) -> None:
    """Sets in `properties` what `more` has, and within it."""
    for name, value in more.items():
        former = properties.get(name)
        if isinstance(value, dict) and isinstance(former, dict):
            merge(former, value)
        elif value is not None:
            properties[name] = value


def _dumped(value: Any) -> str:
    return json.dumps(_listed(value), separators=(",", ":"), allow_nan=False)


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _listed(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_listed(part) for part in value] if value and isinstance(value[0], dict) else value
    if isinstance(value, np.ndarray):
        return [None if part != part else part for part in value.tolist()]  # NaN is no number of JSON
    if isinstance(value, pl.DataFrame):
        return [list(row) for row in value.iter_rows()]
    return value.to_list() if isinstance(value, pl.Series) else value


def _in_steps(trace: Trace) -> Trace:
    """Times in µs to a tenth of a ns, whole numbers, and what is whole times that in `over`."""
    meta = trace.get("meta", {})
    over = {meta.get("ns"): TENTHS_OF_NS, **meta.get("over", {})}
    own: Trace = {
        name: _steps(trace[name], over.get(name, 1)) for name in ("x", "y", "customdata") if name in trace
    }
    return {**trace, **own}


def _steps(values: Any, over: int) -> Any:
    if isinstance(values, pl.DataFrame):
        columns = (column if column.name == "key" else np.asarray(column) for column in values)
        return {"columns": [_steps(column, 1) for column in columns]}
    if isinstance(values, pl.Series):  # the key "@7" as -8
        numbers = [-1 - int(key[1:]) if key[0] == "@" else int(key) for key in values.to_list()]
        return {"named": np.diff(numbers, prepend=0).tolist()}
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        return values
    scaled = np.rint(values * float(over))
    if not np.isfinite(scaled).all() or (over == 1 and (scaled != values).any()):
        return values
    return {"steps": np.diff(scaled.astype(np.int64), prepend=0).tolist(), "over": over}


# Long traces drawn in part, so that a figure of a million points stays fluid. No maximum is lost.

COLUMNS = 1_500
"""Buckets across a line: more than a plot has pixels."""
CLOUD_COLUMNS, CLOUD_ROWS = 500, 40
"""Cells of a cloud of points: a marker is larger than one."""
LONG = 8_000
"""A trace with more points is drawn in part."""

# Whatever has a value for each point.
_OF_EACH_POINT = (
    *("x", "y", "customdata", "text", "hovertext", "ids"),
    *("marker.color", "marker.size", "marker.symbol"),
    *("error_x.array", "error_x.arrayminus", "error_y.array", "error_y.arrayminus"),
)


def thin(figure: Figure) -> tuple[int, int]:
    """Takes points out of the long traces of `figure`; how many they have now, and had.

    The width of a plot is divided into buckets about as wide as a pixel. Of a line each bucket
    keeps its first, last, least and greatest point: the picture is that of all points. Of a cloud
    each bucket is divided in height too, and each cell keeps its greatest point, each bucket also
    its least. What was left out is in the run folder. Traces that are short, or whose points are no
    numbers, stay as they are.
    """
    drawn = points = 0
    for trace in figure.data:
        n = len(trace.get("y", ()))
        if trace["type"] != "scatter" or n <= LONG:
            continue
        axes = [trace.get(f"{way}axis", way).replace(way, f"{way}axis") for way in "xy"]
        logarithmic = [figure.layout.get(axis, {}).get("type") == "log" for axis in axes]
        try:
            x, y = (np.asarray(trace[way], np.float64) for way in "xy")
        except (TypeError, ValueError):
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            x, y = (
                np.where(values > 0, np.log10(values), np.nan) if log else values
                for values, log in zip((x, y), logarithmic, strict=True)
            )
        rows = _chosen(x, y, cloud="lines" not in trace.get("mode", "lines"))
        drawn, points = drawn + len(rows), points + n
        for name in _OF_EACH_POINT:
            within, _, last = name.rpartition(".")
            holder = trace.get(within, {}) if within else trace
            values = holder.get(last, "")
            if isinstance(values, list) and len(values) == n:
                holder[last] = [values[row] for row in rows.tolist()]
            elif isinstance(values, np.ndarray | pl.Series | pl.DataFrame):
                holder[last] = values[rows]
    return drawn, points


def _chosen(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], cloud: bool) -> npt.NDArray[np.int64]:
    """The rows of the points that are drawn."""
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
