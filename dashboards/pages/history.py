"""History: the longest masked section of a setting from run to run, and where it changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from html import escape
from itertools import cycle, pairwise
from typing import Any, NamedTuple

import plotly.graph_objects as go
import polars as pl

from base.run_folder.quantities import SECTION
from dashboards.blocks import Cell, Chart, Column, Grid, Group, Line, Page, Sample, present
from dashboards.figures.chart import Y_US, legended
from dashboards.loaded.lanes import PLACED
from dashboards.loaded.series import SHADES
from dashboards.tables import number, plain

_MAX, _BUDGET, _KEY = (f"{SECTION.key}_{name}" for name in ("max", "budget", "key"))
_HEIGHT_PX = 380
_COLUMNS = (
    Column("after_ns", "after (µs)"),
    Column("before_ns", "before (µs)"),
    Column("factor", "times as long"),
    Column("why", "why", numeric=False),
    Column("before", "before", numeric=False),
    Column("after", "after", numeric=False),
)
_LEGEND = (
    "A change is a difference of two runs of one setting that is larger than their error. Code that lies "
    "elsewhere in the flash makes a section up to {off:.2f} times as long by itself, {on:.2f} times with the "
    "flash accelerator; what is more is the code's."
)

Row = Mapping[str, Any]
"""A run as the index has it."""


class Change(NamedTuple):
    """Two runs of one setting, one after the other, that differ by more than their error."""

    before: Row
    after: Row

    @property
    def factor(self) -> float:
        return float(self.after[_MAX] / self.before[_MAX])

    @property
    def why(self) -> str:
        if self.before["firmware_sha256"] == self.after["firmware_sha256"]:
            return "same firmware: the wire, the board or the model differs"
        of_its_place = max(self.factor, 1 / self.factor) <= PLACED[bool(self.after["art"])]
        return "other code, within what its place does" if of_its_place else "the code changed"


def settings(table: pl.DataFrame) -> list[list[Row]]:
    """Of the index the complete runs of each setting that ran twice or more, oldest first."""
    rows = table.filter(state="finished", verdict="complete").drop_nulls(["options_sha256", _MAX])
    rows = rows.filter(pl.col(_MAX) > 0).sort("scenario", "configuration", "time", "id")
    groups = (group.to_dicts() for _, group in rows.group_by("options_sha256", maintain_order=True))
    return [list(group) for group in groups if len(group) > 1]


def changes(runs: list[Row]) -> Iterator[Change]:
    """The changes of one setting, in their order."""
    for before, after in pairwise(runs):
        if abs(after[_MAX] - before[_MAX]) > (before[_BUDGET] or 0) + (after[_BUDGET] or 0):
            yield Change(before, after)


def history(table: pl.DataFrame, linked: Collection[str] | None = None) -> Page | None:
    """The page of the index `table`; `linked` are the runs that have pages, all where it is None.

    None where no setting ran twice.
    """
    there = set(table["id"] if linked is None else linked)
    by_scenario: dict[str, list[list[Row]]] = {}
    for runs in settings(table):
        by_scenario.setdefault(runs[0]["scenario"], []).append(runs)
    if not by_scenario:
        return None
    groups = [
        Group(scenario, [_line(change, there) for runs in several for change in changes(runs)])
        for scenario, several in by_scenario.items()
    ]
    count = sum(len(group.lines) for group in groups)
    legend = _LEGEND.format(off=PLACED[False], on=PLACED[True])
    grid = Grid("changes", "Changes", _COLUMNS, groups, legend=legend) if count else None
    charts = [_chart(scenario, several, there) for scenario, several in by_scenario.items()]
    ran = sum(len(several) for several in by_scenario.values())
    lead = (
        f"Settings that ran more than once: {ran}. Changes of the longest section beyond its error: {count}."
    )
    return Page("history", "History", (lead,), present(grid, *charts))


def _line(change: Change, there: Collection[str]) -> Line:
    cells = []
    for row in (change.after, change.before):
        sample = Sample(row["id"], row[_KEY]) if row[_KEY] is not None and row["id"] in there else None
        cells.append(plain(row[_MAX], "ns", sample=sample))
    cells.append(number(change.factor, "{:.3f}"))
    cells += [Cell(text, text) for text in (change.why, change.before["id"], change.after["id"])]
    run = change.after
    return Line(run["configuration"], cells, run_id=run["id"] if run["id"] in there else "")


def _chart(scenario: str, several: list[list[Row]], there: Collection[str]) -> Chart:
    figure = go.Figure()
    for runs, colour in zip(several, cycle(SHADES), strict=False):
        name = escape(runs[-1]["configuration"], quote=False)
        marked = {change.after["id"] for change in changes(runs) if change.why == "the code changed"}
        figure.add_scatter(
            x=list(range(1, len(runs) + 1)),
            y=[row[_MAX] / 1000 for row in runs],
            error_y={
                "type": "data",
                "array": [(row[_BUDGET] or 0) / 1000 for row in runs],
                "thickness": 1,
            },
            mode="lines+markers",
            line_color=colour,
            line_width=1.5,
            marker_symbol=["triangle-up" if row["id"] in marked else "circle" for row in runs],
            marker_size=[12 if row["id"] in marked else 7 for row in runs],
            name=name,
            customdata=[(row[_KEY] or "", escape(row["id"], quote=False)) for row in runs],
            meta={"runs": [row["id"] if row["id"] in there else "" for row in runs]},
            hovertemplate=f"{name}: {Y_US}<br>%{{customdata[1]}}",
        )
    legended(figure, _HEIGHT_PX, "run of its setting, the oldest first", "longest masked section (µs)")
    figure.update_yaxes(rangemode="tozero")
    explanation = (
        "Bars: the error budget. A triangle: the code changed, and the difference is more than its place in "
        "the flash does. A point opens its run's worst instant."
    )
    counted = f"n = {sum(map(len, several))} complete runs of {len(several)} settings"
    return Chart(f"history-{scenario}", f"{scenario}, from run to run", counted, explanation, figure)
