"""What the repository keeps of the tables made again, and the same as one HTML text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from base.files import results as csv_files
from dashboards.page.templates import DRAWING, Figure, entries, render
from studies.reproduce import figures, published
from studies.reproduce.beside import Beside
from studies.reproduce.sections import Chapter, Section, chapters

SUMMARY = "reproduced.csv"
FOLDER = "reproduced"
_SUMMARY_COLUMNS = ("table", "what", "conclusions", "compared", "figures")
_MADE_HERE = ("name", "conclusions", "made_from", "placement", "sentences", "grids")
"""Of a section: the rest is typed in `published`, or stands in the summary."""

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def results(tables: Sequence[Beside]) -> dict[str, str]:
    """The content of each file in docs/results, by its path: the summary of all tables as CSV, the
    sections of each publication as JSON. Equal results give equal text.
    """
    all_chapters = chapters(tables)
    rows = (
        (section.name, section.title, section.verdicts, section.compared, section.headline)
        for chapter in all_chapters
        for section in chapter.sections
    )
    files = {SUMMARY: csv_files.text(_SUMMARY_COLUMNS, rows)}
    for chapter in all_chapters:
        made = [{name: asdict(section)[name] for name in _MADE_HERE} for section in chapter.sections]
        files[f"{FOLDER}/{chapter.source.key}.json"] = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
    return files


def markdown(path: Path) -> str:
    """A publication's file of results as a page."""
    source = published.source(path.stem)
    sections = json.loads(path.read_text(encoding="utf-8"))
    tables = {table.name: table for table in source.table}
    return _TEMPLATES.get_template("chapter.md.jinja").render(source=source, sections=sections, tables=tables)


@dataclass(frozen=True)
class Page:
    """The content of reproduced.html; `figures` are by the name of the table."""

    chapters: Sequence[Chapter]
    figures: Mapping[str, Sequence[Figure]]

    @property
    def sections(self) -> list[Section]:
        return [section for chapter in self.chapters for section in chapter.sections]


def html(tables: Sequence[Beside]) -> str:
    """The whole page. Equal results give equal text."""
    drawn = {
        made.table.name: [Figure(f"plot-{chart.key}", chart) for chart in figures.charts(made)]
        for made in tables
    }
    page = Page(chapters(tables), drawn)
    every = [figure for charts in drawn.values() for figure in charts]
    return render("reproduced.html", page, {"entries": entries(every)}, (*DRAWING, "sheet.js"))
