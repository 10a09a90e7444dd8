"""The page as a file: one HTML text that needs no other."""

from __future__ import annotations

from pathlib import Path

from analysis.twin.comparison import Comparison
from base.files.whole import write_bytes
from dashboards.page.sheet import sheet
from dashboards.twin import figures, tables


def write(found: Comparison, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(found).encode())


def html(found: Comparison) -> str:
    """The whole page. Equal comparisons give equal text."""
    return sheet("twin.html", found.verdict, found.notes, figures.charts(found), tables.grids(found))
