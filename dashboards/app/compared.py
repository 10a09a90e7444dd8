"""Two runs held against each other: what `./lab compare` writes, as a page of the app."""

from __future__ import annotations

from typing import Any

from dash import html

from analysis.compare.compared import Comparison, compare
from dashboards.app.address import COMPARE, Address, run_address
from dashboards.app.draw import figure, terms
from dashboards.app.library import Library, Recent
from dashboards.app.shown import AddressError
from dashboards.compare import Parts, parts
from dashboards.page.templates import TextGrid

READY_MOST = 8
"""Comparisons that stay ready."""


class Comparisons:
    """The comparisons of runs of a library; those asked for last stay ready."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._ready: Recent[Comparison] = Recent(READY_MOST)

    def page(self, address: Address) -> list[Any]:
        """The page of the two runs of `address`. Raises AddressError, and what compare() raises."""
        runs = address.runs
        if len(runs) != 2:
            raise AddressError(
                f"A comparison is of two runs, and the address names {len(runs)}: choose two in the "
                "table of runs."
            )
        series = self._library.table()["id"]
        missing = [run for run in runs if run not in series]
        if missing:
            raise AddressError(f"There is no run {missing[0]!r}; the table of runs lists those there are.")
        key = tuple((run, self._library.version(run)) for run in runs)
        a, b = (self._library.runs / run for run in runs)
        return _drawn(parts(self._ready.get(key, lambda: compare(a, b))), address)


def _drawn(told: Parts, address: Address) -> list[Any]:
    a, b = address.runs
    swapped = Address(COMPARE, runs=(b, a))
    return [
        html.P(
            [
                "A is ",
                html.A(a, href=run_address(a)),
                ", B is ",
                html.A(b, href=run_address(b)),
                ". ",
                html.A("The other way round", href=str(swapped)),
            ],
            className="hint",
        ),
        html.H1("A and B compared"),
        html.P(told.headline, className="lead"),
        html.Ul([html.Li(terms(remark, prose=True)) for remark in told.remarks], className="remarks"),
        *(figure(chart) for chart in told.charts),
        *(_table(grid) for grid in told.grids),
    ]


def _table(grid: TextGrid) -> Any:
    head = html.Thead(html.Tr([html.Th(terms(words), scope="col") for words in grid.headings]))
    body = html.Tbody(
        [
            html.Tr([html.Th(terms(first), scope="row"), *(html.Td(cell) for cell in cells)])
            for first, *cells in grid.lines
        ]
    )
    kind = "comparison wide told" if grid.told else "comparison wide"
    box: Any = {"role": "region", "aria-label": grid.title, "tabIndex": "0"}
    table = html.Table([head, body], className=kind)
    return html.Section([html.H2(grid.title), html.Div(table, className="scroll", **box)])
