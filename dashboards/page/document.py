"""The page as text: what it shows, laid out by the templates beside this file.

Templates escape every value, and a missing one is an error. Only this room's own style and script
and the plotting library are placed as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from dashboards.figures.chart import Chart
from dashboards.tables.comparison import Comparison
from dashboards.tables.details import Details
from dashboards.tables.differences import Differences

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


@dataclass(frozen=True)
class Figure:
    """A chart, and the `id` of the element that the page's script draws it into."""

    id: str
    chart: Chart

    @property
    def height_px(self) -> int:
        """Room kept for the figure, so that nothing moves when it is drawn."""
        return int(self.chart.figure.layout.height)


@dataclass(frozen=True)
class Section:
    """What the page says of one scenario. `differences` is None without two runs to compare."""

    id: str
    scenario: str
    headline: str
    comparison: Comparison
    differences: Differences | None
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Page:
    """`warning` is a sentence, empty if every run is complete. The script draws from `data`."""

    sections: Sequence[Section]
    warning: str
    runs: Sequence[Details]
    data: dict[str, Any]


def document(page: Page) -> str:
    """One HTML document that needs nothing else."""
    return _TEMPLATES.get_template("document.html").render(
        page=page,
        style=_own_text("page.css"),
        plotly=Markup(get_plotlyjs()),
        script=_own_text("page.js"),
    )


def _own_text(name: str) -> Markup:
    """A file of this folder, placed as it is."""
    return Markup((_FOLDER / name).read_text(encoding="utf-8"))
