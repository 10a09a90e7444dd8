"""The parts of a program's report as tables of a page."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.program.parts import Part
from base.text_table import TextTable
from dashboards.formatting import MISSING

_MOST_LINES = 300
"""The page shows so many; the JSON has all."""


def of_parts(parts: Iterable[Part]) -> list[TextTable]:
    """A table of each part that has lines."""
    return [
        TextTable(
            part.title,
            part.headings,
            tuple(
                tuple(cell.replace("\n", "; ") or MISSING for cell in line)
                for line in part.lines[:_MOST_LINES]
            ),
        )
        for part in parts
        if part.lines
    ]
