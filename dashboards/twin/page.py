"""The page as a file: one HTML text that needs no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.twin.comparison import Comparison
from capture.files.whole import write_bytes
from dashboards.page.templates import Figure, plots, render
from dashboards.twin import figures, tables
from dashboards.twin.tables import Grid


@dataclass(frozen=True)
class Page:
    """What twin.html shows. `remarks` must be known to read the figures."""

    headline: str
    remarks: Sequence[str]
    figures: Sequence[Figure]
    grids: Sequence[Grid]


def write(found: Comparison, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(found).encode())


def html(found: Comparison) -> str:
    """The whole page. Equal comparisons give equal text."""
    shown = [Figure(f"plot-{chart.key}", chart) for chart in figures.charts(found)]
    page = Page(found.verdict, found.notes, shown, tables.grids(found))
    return render("twin.html", page, {"plots": plots(shown)}, ("figures.js",))
