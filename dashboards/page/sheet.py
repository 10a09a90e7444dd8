"""A page of figures and tables with a headline, as sheet.html lays it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.figures.chart import Chart
from dashboards.page.templates import DRAWING, Figure, entries, render


@dataclass(frozen=True)
class Grid:
    """`headings` and each of `lines` include the first column. `told` is one of words."""

    title: str
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    told: bool = False


@dataclass(frozen=True)
class _Page:
    headline: str
    remarks: Sequence[str]
    figures: Sequence[Figure]
    grids: Sequence[Grid]


def sheet(
    template: str, headline: str, remarks: Sequence[str], charts: Sequence[Chart], grids: Sequence[Grid]
) -> str:
    """One HTML text of `template`, which extends sheet.html.

    `remarks` must be known to read the figures.
    """
    shown = [Figure(f"plot-{chart.key}", chart) for chart in charts]
    page = _Page(headline, remarks, shown, grids)
    return render(template, page, {"entries": entries(shown)}, (*DRAWING, "sheet.js"))
