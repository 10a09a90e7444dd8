"""Templates, style and scripts of this room, made into one HTML text that needs nothing else.

Templates escape every value, and a missing one is an error. Only this room's own style and scripts,
and what is packed as gzip in base64 (unpack.js undoes it), are placed as they are.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from base.files.whole import WriteError, write_bytes
from base.paths import COMPILED
from base.text_table import TextTable
from dashboards.blocks import Cell, Column, Grid, Group, Line
from dashboards.figures.chart import Chart
from dashboards.formatting import grouped
from dashboards.glossary import marked

LEVEL = 6
_HARMLESS = bytes.maketrans(b"&<>", b":.,")


def pack(text: str) -> str:
    """`text` in letters that no element of a page can be made of. Equal texts give equal ones.

    Five letters carry four bytes (RFC 1924's alphabet but for &, < and >), where base64 takes more.
    """
    packed = base64.b85encode(gzip.compress(text.encode(), LEVEL, mtime=0))
    return packed.translate(_HARMLESS).decode("ascii")


def pack_json(value: Any) -> str:
    """The same of plain values; NaN is an error."""
    return pack(json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False))


_FOLDER = Path(__file__).parent
_PACKED = COMPILED / "packed"
"""Plotly's script takes longer to pack than to read, and is the same in all pages."""


def _compiled() -> FileSystemBytecodeCache | None:
    """Templates take longer to compile than to fill; None where nothing can be kept."""
    folder = COMPILED / "templates"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None


_TEMPLATES = Environment(
    loader=FileSystemLoader(_FOLDER),
    bytecode_cache=_compiled(),
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
    packed=lambda chart: pack(chart.figure.to_json()),
    csv=lambda grid: pack(grid.frame().write_csv()),
    terms=lambda text, prose=False: terms(text, prose=prose),
    number=lambda value: grouped(round(value, 1)),
)


def terms(text: str, *, prose: bool = False) -> Markup:
    """`text` with the words of the glossary underlined."""
    return Markup().join(
        Markup('<dfn class="term" title="{}">{}</dfn>').format(piece.means, piece.text)
        if piece.means
        else piece.text
        for piece in marked(text, prose=prose)
    )


DRAWING = ("dom.js", "glossary.js", "unpack.js", "paint.js", "figures.js", "theme.js")
"""The scripts that every page with figures has."""

_ENTRY = re.compile(r"var\(--run-(\d+)")


@dataclass(frozen=True)
class Figure:
    """A chart, and the `id` of the element that the page's script draws it into."""

    id: str
    chart: Chart


def render(
    template: str,
    page: Any,
    data: dict[str, Any],
    scripts: Sequence[str],
    *,
    styles: Sequence[str] = ("page.css",),
    figures: bool = True,
) -> str:
    """One HTML document of `template`, which shows `page`.

    `scripts` and `styles` are files of this room, in the order in which they run; scripts find
    `data` as JSON. A document without `figures` of its own, such as one that asks its server for
    them, lacks Plotly's script.
    """
    return _TEMPLATES.get_template(template).render(
        page=page,
        data=data,
        style=files_text(styles),
        plotly=_plotly() if figures else "",
        script=files_text(scripts),
    )


def files_text(names: Sequence[str]) -> Markup:
    """These files of this room, placed as they are."""
    return Markup("\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in names))


def fragment(template: str, page: Any) -> str:
    """A part of a page, for a script to place."""
    return _TEMPLATES.get_template(template).render(page=page)


def entries(figures: Iterable[Figure]) -> list[int]:
    """The places in the picker of all colours that `figures` use."""
    texts = (figure.chart.figure.to_json() for figure in figures)
    return sorted({int(entry) for text in texts for entry in _ENTRY.findall(text)})


@cache
def _plotly() -> str:
    path = _PACKED / f"plotly-{version('plotly')}-85.txt"
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="ascii")
    from plotly.offline import get_plotlyjs

    packed = pack(get_plotlyjs())
    with suppress(OSError, WriteError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, packed.encode())
    return packed


@dataclass(frozen=True)
class Sheet:
    """A page of figures and tables of its own, by `template`, which extends sheet.html.

    `remarks` must be known to read the figures.
    """

    template: str
    headline: str
    remarks: Sequence[str]
    charts: Sequence[Chart]
    grids: Sequence[TextTable]

    @property
    def figures(self) -> list[Figure]:
        return [Figure(f"plot-{chart.key}", chart) for chart in self.charts]

    @property
    def tables(self) -> list[Grid]:
        """Those with numbers have all columns but the first for numbers."""
        tables = []
        for grid in self.grids:
            first, *others = grid.headings
            columns = tuple(Column(words, words, numeric=bool(grid.numbers)) for words in others)
            lines = (Line(name, tuple(Cell(text, text) for text in rest)) for name, *rest in grid.lines)
            group = Group("", tuple(lines))
            tables.append(Grid("table", grid.title, columns, (group,), names=first, pinned=0))
        return tables

    def html(self) -> str:
        """The whole page, one HTML text."""
        return render(
            self.template, self, {"entries": entries(self.figures)}, (*DRAWING, "sort.js", "sheet.js")
        )

    def write(self, output: Path) -> Path:
        """Writes the page and returns `output`. Raises WriteError."""
        return write_bytes(output, self.html().encode())


def sheet(
    template: str, headline: str, remarks: Sequence[str], charts: Sequence[Chart], grids: Sequence[TextTable]
) -> str:
    """One HTML text of `template`, which extends sheet.html."""
    return Sheet(template, headline, remarks, charts, grids).html()
