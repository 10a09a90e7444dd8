"""The page as a file: one HTML text that needs no other."""

from __future__ import annotations

from pathlib import Path

from analysis.program.masks.measure import Found
from analysis.program.masks.text import headline
from base.files.whole import write_bytes
from dashboards.masks import figures, tables
from dashboards.page.sheet import sheet


def write(found: Found, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(found).encode())


def html(found: Found) -> str:
    """The whole page. Equal runs give equal text."""
    return sheet("masks.html", headline(found), found.notes, figures.charts(found), tables.grids(found))
