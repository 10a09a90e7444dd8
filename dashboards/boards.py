"""The page of one allocator on several boards: a figure for each scenario, and the tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from analysis.compare.boards import MEANING, Across, Group, every, headline
from base.files.whole import write_bytes
from dashboards.figures import boards as figure
from dashboards.figures.chart import Chart
from dashboards.page.templates import TextGrid, sheet


def write(boards: Across, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(boards).encode())


def html(found: Across) -> str:
    """The whole page. Equal runs give equal text."""
    boards = [line.title for line in found.boards]
    first = f"One allocator on {len(boards)} boards: {', '.join(boards)}."
    sentences = [headline(group) for group in found.groups]
    remarks = [group.remark for group in found.groups if group.remark]
    grids = [TextGrid(rows.title, rows.headings, rows.lines) for rows in every(found)]
    return sheet(
        "boards.html", first, [*sentences, *remarks, MEANING, *found.left_out], charts(found.groups), grids
    )


def charts(groups: tuple[Group, ...]) -> list[Chart]:
    """A figure for each scenario."""
    by_scenario: dict[str, list[Group]] = {}
    for group in groups:
        by_scenario.setdefault(group.scenario, []).append(group)
    made = (figure.boards(ones) for ones in by_scenario.values())
    return [replace(chart, key=f"boards-{number}") for number, chart in enumerate(made) if chart is not None]
