"""The figures of a capture by itself, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from base.metrology.quantiles import Summary
from base.microseconds import UNIT, digits

_SHOWN = ("n", "min", "median", "p99", "max")

Figures = Mapping[str, Summary]


def lines(widths_ns: Figures, intervals_ns: Figures, latencies_ns: Figures, **more_ns: Figures) -> list[str]:
    """A heading, and a line for each of the summaries. What else is given is named by its key."""
    rows: list[tuple[str, ...]] = [(UNIT, *_SHOWN)]
    parts = [("{}, width", widths_ns), ("{}, begin to begin", intervals_ns), ("{}", latencies_ns)]
    parts += [("{}, " + name.replace("_", " "), part) for name, part in more_ns.items()]
    for title, part in parts:
        rows += [(title.format(name), *_cells(summary)) for name, summary in part.items()]
    return [f"{first:<22}" + "".join(f"{cell:>16}" for cell in cells) for first, *cells in rows]


def _cells(summary: Summary) -> list[str]:
    values = [getattr(summary, name) for name in _SHOWN[1:]]
    *others, greatest = ("-" if value is None else digits(value) for value in values)
    return [f"{summary.n:,}", *others, summary.at_least + greatest]
