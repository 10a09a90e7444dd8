"""The report's page as text: what it shows, laid out by document.html."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.page.templates import Figure, render
from dashboards.tables.comparison import Comparison
from dashboards.tables.cycles_by_probes import CyclesByProbes
from dashboards.tables.details import Details
from dashboards.tables.differences import Differences


@dataclass(frozen=True)
class Section:
    """What the page says of one scenario.

    `differences` is None without two runs to compare, `cycles_by_probes` where nobody counted.
    """

    id: str
    scenario: str
    headline: str
    comparison: Comparison
    differences: Differences | None
    cycles_by_probes: CyclesByProbes | None
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Page:
    """`warning` is a sentence, empty if every run is complete. The scripts draw from `data`."""

    sections: Sequence[Section]
    warning: str
    runs: Sequence[Details]
    data: dict[str, Any]


def document(page: Page) -> str:
    """One HTML document that needs nothing else."""
    return render("document.html", page, page.data, ("figures.js", "page.js"))
