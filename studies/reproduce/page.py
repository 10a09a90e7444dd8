"""The page as a file: one HTML text that needs no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboards.page.templates import DRAWING, Figure, entries, render
from studies.reproduce import figures
from studies.reproduce.beside import Beside
from studies.reproduce.sections import Chapter, Section, chapters


@dataclass(frozen=True)
class Page:
    """What reproduced.html shows; `figures` are by the name of the table."""

    chapters: Sequence[Chapter]
    figures: Mapping[str, Sequence[Figure]]

    @property
    def sections(self) -> list[Section]:
        return [one for chapter in self.chapters for one in chapter.sections]


def html(tables: Sequence[Beside]) -> str:
    """The whole page. Equal results give equal text."""
    drawn = {
        made.table.name: [Figure(f"plot-{chart.key}", chart) for chart in figures.charts(made)]
        for made in tables
    }
    page = Page(chapters(tables), drawn)
    every = [figure for one in drawn.values() for figure in one]
    return render("reproduced.html", page, {"entries": entries(every)}, (*DRAWING, "sheet.js"))
