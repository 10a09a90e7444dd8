"""A figure as plain values: traces and layout, named as in Plotly's reference of its JSON.

Plotly's own objects check and copy every property at every step: to import and to fill them takes
longer than the rest of a report. Here nothing is checked. The tests hold each figure against those
objects, which must take it as it is and write the same text (dashboards/tests/as_plotly.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

Trace = dict[str, Any]

_AS_THEY_ARE = ("meta", "customdata")
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
        self._plots: list[tuple[int, int]] = []
        self.add(*traces)

    @classmethod
    def of_plots(
        cls,
        rows: int = 1,
        cols: int = 1,
        *,
        spacing: float,
        shared_x: bool = False,
        shared_y: bool = False,
    ) -> Figure:
        """A figure of several plots, in rows from the top and in columns, `spacing` apart: a share
        of the figure. With `shared_x` all have the x axis of the last plot, with `shared_y` the y
        axis of the first.
        """
        figure = cls()
        figure._plots = [(row, col) for row in range(1, rows + 1) for col in range(1, cols + 1)]
        for place, (row, col) in enumerate(figure._plots):
            own, last = _suffix(place), place == len(figure._plots) - 1
            x: dict[str, Any] = {"anchor": f"y{own}", "domain": _domain(col - 1, cols, spacing)}
            y: dict[str, Any] = {"anchor": f"x{own}", "domain": _domain(rows - row, rows, spacing)}
            if shared_x and not last:
                x |= {"matches": f"x{_suffix(rows * cols - 1)}", "showticklabels": False}
            if shared_y and place > 0:
                y |= {"matches": "y", "showticklabels": False}
            figure.layout |= {f"xaxis{own}": x, f"yaxis{own}": y}
        return figure

    def add(self, *traces: Trace, row: int = 1, col: int = 1) -> None:
        """Adds traces, to one of several plots."""
        own = self._own(row, col)
        axes = {"xaxis": f"x{own}", "yaxis": f"y{own}"} if self._plots else {}
        for trace in traces:
            rest = {name: value for name, value in trace.items() if name != "type"}
            self.data.append({**in_order(rest), "type": trace["type"], **axes})

    def _own(self, row: int, col: int) -> str:
        """What the names of a plot's axes end in; empty for an only plot."""
        return _suffix(self._plots.index((row, col))) if self._plots else ""

    def update_layout(self, **properties: object) -> None:
        """Sets properties of the layout, and those within them."""
        merge(self.layout, properties)

    def update_xaxes(
        self, title_text: str | None = None, *, row: int | None = None, col: int | None = None, **more: object
    ) -> None:
        """Sets properties of all x axes, or those of the plots of a row or a column."""
        self._update_axes("xaxis", title_text, row, col, more)

    def update_yaxes(
        self, title_text: str | None = None, *, row: int | None = None, col: int | None = None, **more: object
    ) -> None:
        """Sets properties of all y axes, or those of the plots of a row or a column."""
        self._update_axes("yaxis", title_text, row, col, more)

    def _update_axes(
        self, name: str, title_text: str | None, row: int | None, col: int | None, more: dict[str, object]
    ) -> None:
        title = {} if title_text is None else {"title": {"text": title_text}}
        for own in self._axes(row, col):
            merge(self.layout.setdefault(f"{name}{own}", {}), {**title, **more})

    def _axes(self, row: int | None, col: int | None) -> Iterator[str]:
        for place, (of_row, of_col) in enumerate(self._plots or [(1, 1)]):
            if row in (None, of_row) and col in (None, of_col):
                yield _suffix(place)

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


def _domain(number: int, count: int, spacing: float) -> list[float]:
    """Where the `number`-th of `count` plots begins and ends, as shares of the figure."""
    size = (1.0 - spacing * (count - 1)) / count
    begin = (size + spacing) * number
    return [begin, begin + size]


def _suffix(place: int) -> str:
    return str(place + 1) if place else ""


def in_order(value: Any) -> Any:
    """The properties by their names, numbered axes last, without those that are None: so write
    Plotly's objects.
    """
    if isinstance(value, dict):
        first = sorted(name for name in value if not name[-1].isdecimal() or "axis" not in name)
        return {
            name: value[name] if name in _AS_THEY_ARE else in_order(value[name])
            for name in dict.fromkeys([*first, *value])
            if value[name] is not None
        }
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [in_order(part) for part in value]
    return value


def merge(properties: dict[str, Any], more: dict[str, Any]) -> None:
    """Sets in `properties` what `more` has, and within it."""
    for name, value in more.items():
        former = properties.get(name)
        if isinstance(value, dict) and isinstance(former, dict) and name not in _AS_THEY_ARE:
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
