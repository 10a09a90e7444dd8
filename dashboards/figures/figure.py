"""A figure as plain values: traces and layout, named as in Plotly's reference of its JSON.

Plotly's own objects check and copy every property at every step: to import and to fill them takes
longer than the rest of a report. Here nothing is checked. The tests hold each figure against those
objects, which must take it as it is and write the same text (dashboards/tests/as_plotly.py).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Trace = dict[str, Any]

_AS_THEY_ARE = ("meta", "customdata")
_SMALLER = {"int64": ("int8", "int16", "int32"), "uint64": ("uint8", "uint16", "uint32")}
_ENCODED = {f"{kind}{8 * size}": f"{kind[0]}{size}" for kind in ("int", "uint") for size in (1, 2, 4)}
_ENCODED |= {"float32": "f4", "float64": "f8"}
_ESCAPED = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>/"})


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
        """What Plotly's script takes; arrays are encoded as it reads them fastest."""
        document: dict[str, Any] = _encoded({"data": self.data, "layout": self.layout})
        return document

    def to_json(self) -> str:
        """The same as text that cannot end or open an element of a page. Raises ValueError for a
        value that is no number.
        """
        return json.dumps(self.to_dict(), separators=(",", ":"), allow_nan=False).translate(_ESCAPED)


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


def _encoded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _encoded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_encoded(part) for part in value] if value and isinstance(value[0], dict) else value
    return _array(value) if isinstance(value, np.ndarray) else value


def _array(values: npt.NDArray[Any]) -> Any:
    """Its numbers as bytes, the smallest that hold them; a list where there is no such way."""
    for kind in _SMALLER.get(values.dtype.name, ()):
        room = np.iinfo(kind)
        if values.size and values.min() >= room.min and values.max() <= room.max:
            values = values.astype(kind)
            break
    kind = _ENCODED.get(values.dtype.name, "")
    if not kind or not values.size:
        return values.tolist()
    return {"dtype": kind, "bdata": base64.b64encode(values.tobytes()).decode("ascii")}
