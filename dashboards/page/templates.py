"""Templates, style and scripts of this room, made into one HTML text that needs nothing else.

Templates escape every value, and a missing one is an error. Only this room's own style and scripts,
and what is packed (figures.js undoes it), are placed as they are.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from base.files.whole import write_bytes
from base.text_table import TextTable
from dashboards.blocks import Cell, Chart, Column, Grid, Group, Line
from dashboards.formatting import grouped
from dashboards.glossary import marked

LEVEL = 6


def pack(value: Any) -> str:
    """Plain values as JSON, or a text as it is, as gzip in base64: letters that no element of a
    page can be made of. Equal values give equal ones. Raises ValueError for NaN.
    """
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), LEVEL, mtime=0)).decode("ascii")


def columns(value: Any) -> Any:
    """`value` with rows that are alike, in a list or by `keys`, as one object of their `columns`,
    which figures.js undoes: what they have alike is then near enough for gzip to write it once.
    Empty rows have no column that could tell how many they are, and stay.
    """
    if not isinstance(value, dict | list):
        return value
    rows = [*value.values()] if isinstance(value, dict) else value
    if not all(isinstance(row, dict) and row and row.keys() == rows[0].keys() for row in rows) or not rows:
        parts = map(columns, rows)
        return dict(zip(value, parts, strict=True)) if isinstance(value, dict) else [*parts]
    apart = {name: columns([row[name] for row in rows]) for name in rows[0]}
    return {"columns": apart, "keys": [*value] if isinstance(value, dict) else None}


def terms(text: str, prose: bool = False) -> Markup:
    """`text` with the words of the glossary underlined."""
    return Markup().join(
        Markup('<dfn class="term" title="{}">{}</dfn>').format(means, piece) if means else piece
        for piece, means in marked(text, prose=prose)
    )


_FOLDER = Path(__file__).parent
_TEMPLATES = Environment(
    loader=FileSystemLoader(_FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
# The filter `tojson` writes JSON that cannot end or open an element, whatever it holds.
_TEMPLATES.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
_TEMPLATES.globals.update(
    kind_of=lambda block: type(block).__name__,
    infinite=inf,
    pack=pack,
    terms=terms,
    number=lambda value: grouped(round(value, 1)),
)


DRAWING = ("page.js", "figures.js")
"""The scripts that every page with figures has."""


def render(
    template: str, page: Any, data: dict[str, Any], scripts: Sequence[str], *, figures: bool = True
) -> str:
    """One HTML document of `template`, which shows `page`.

    `scripts` are files of this room, in the order in which they run; they find `data` as JSON. A
    document without `figures` of its own, such as one that asks its server for them, lacks Plotly's
    script.
    """
    return _TEMPLATES.get_template(template).render(
        page=page,
        data=data,
        style=files_text(["page.css"]),
        plotly=_plotly() if figures else "",
        script=files_text(scripts),
    )


def files_text(names: Sequence[str]) -> Markup:
    """These files of this room, placed as they are."""
    return Markup("\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in names))


def fragment(template: str, page: Any, id: str = "") -> Markup:
    """A part of a page, for a script to place; `id` begins the ids of its elements."""
    return Markup(_TEMPLATES.get_template(template).render(page=page, id=id))


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs  # of the report alone

    return pack(get_plotlyjs())


class Sheet(NamedTuple):
    """A page of figures and tables of its own, by sheet.html: the document's `title` and a
    `headline`; `remarks` must be known to read the figures; the `explanation` stands below the
    tables.
    """

    title: str
    headline: str
    remarks: Sequence[str]
    charts: Sequence[Chart]
    grids: Sequence[TextTable]
    explanation: str

    @property
    def tables(self) -> list[Grid]:
        return [grid_of("table", table) for table in self.grids]

    def html(self) -> str:
        """The whole page, one HTML text."""
        return render("sheet.html", self, {}, DRAWING)

    def write(self, output: Path) -> Path:
        """Writes the page and returns `output`. Raises WriteError."""
        return write_bytes(output, self.html().encode())


def grid_of(key: str, table: TextTable, legend: str = "") -> Grid:
    """The table for a page."""
    first, *others = table.headings
    columns = [Column(words, words, place in table.numbers) for place, words in enumerate(others, 1)]
    lines = [Line(name, [Cell(text, text) for text in rest]) for name, *rest in table.lines]
    return Grid(key, table.title, columns, [Group("", lines)], names=first, legend=legend, pinned=0)
