"""The pages: docs/reference/reproduced.md with its folder, and the same as one HTML text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboards.page.templates import DRAWING, Figure, entries, render
from studies.reproduce import figures
from studies.reproduce.beside import Beside
from studies.reproduce.conclusions import Conclusion
from studies.reproduce.sections import Chapter, Grid, Section, chapters

INDEX = "reproduced.md"
_FOLDER = "reproduced"
_WIDTH_COLUMNS = 100

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def pages(tables: Sequence[Beside]) -> dict[str, str]:
    """The text of each page, by its path: an index, and a page for each publication.

    Equal results give equal text.
    """
    all_chapters = chapters(tables)
    written = {INDEX: _rendered("page.md.jinja", chapters=all_chapters, folder=_FOLDER)}
    for chapter in all_chapters:
        path = f"{_FOLDER}/{chapter.source.key}.md"
        written[path] = _rendered("chapter.md.jinja", chapter=chapter, index=INDEX)
    return written


def _rendered(template: str, **values: object) -> str:
    text = _TEMPLATES.get_template(template).render(**values, lines=_lines, wrapped=_wrapped, told=_sentence)
    return text.rstrip() + "\n"


def _wrapped(text: str, indent: str = "") -> str:
    """Prose in lines that fit, the further ones indented."""
    return fill(
        text, _WIDTH_COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _sentence(conclusion: Conclusion) -> str:
    """A conclusion, its word and the cause."""
    cause = f" Cause: {conclusion.cause}" if conclusion.cause else ""
    return f"{conclusion.says} **{conclusion.verdict.capitalize()}.** {conclusion.told}{cause}"


def _lines(grid: Grid) -> list[str]:
    """The grid as a Markdown table."""
    rule = f"|---|---|{'---:|' * (len(grid.headings) - 2)}"
    return [_line(grid.headings), rule, *map(_line, grid.lines)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


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
