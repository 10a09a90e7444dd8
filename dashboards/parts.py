"""The parts of a program's report as tables of a page."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.program.parts import Part
from dashboards.formatting import MISSING
from dashboards.page.templates import TextGrid

_MOST_LINES = 300
"""The page shows so many; the JSON has all."""


def of_parts(parts: Iterable[Part]) -> list[TextGrid]:
    """A table of each part that has lines."""
    return [
        TextGrid(
            part.title,
            part.headings,
            tuple(
                tuple(cell.replace("\n", "; ") or MISSING for cell in line)
                for line in part.lines[:_MOST_LINES]
            ),
            told=True,
        )
        for part in parts
        if part.lines
    ]
