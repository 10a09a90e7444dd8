"""A chart for each part of a table: what is published, and what came out here."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, scatter
from dashboards.loaded.series import INK, SHADES
from studies.reproduce import beside
from studies.reproduce.beside import Beside, MadeFigure, Pair
from studies.reproduce.published import Part

_ROW_PX, _AROUND_PX = 22, 120
_LOGARITHMIC_FROM = 50
"""Where the greatest figure is so many times the least, the axis is logarithmic."""
_MOST_PANELS = 4
"""As many columns of a part stand beside each other; the tables have all of them."""
_MARKS = (
    "Open diamonds are published, filled marks made here. Bars go from the least to the greatest of the "
    "seeds, or of the placements of the code."
)
_BY_ORDER = " Allocators stand in the order of the first column's published figures."
_COLOURS = (SHADES[1], SHADES[0], SHADES[2])
_SYMBOLS = ("circle", "square", "triangle-up", "cross", "x", "star")


def charts(made: Beside) -> list[Chart]:
    """One for each part with figures from here, none for a table that was not made: a row for each
    allocator, a panel for each of the first columns.
    """
    return [
        _chart(made, part, f"{made.table.name}-{number}", columns[:_MOST_PANELS])
        for number, part in enumerate(made.table.part)
        if (columns := [column for column in part.columns if _in_column(made, part, column)])
    ]


def _in_column(made: Beside, part: Part, column: str) -> list[Pair]:
    return [pair for pair in made.of(part) if pair.column == column and pair.here]


def _chart(made: Beside, part: Part, key: str, columns: Sequence[str]) -> Chart:
    rows = [row for row in made.rows(part) if any(pair.row == row and pair.here for pair in made.of(part))]
    by_order = made.table.compared == "by order"
    if by_order:
        place = {row: part.printed(row, columns[0]) for row in part.rows}
        rows.sort(key=lambda row: inf if (value := place.get(row)) is None else value)
    figure = Figure.of_plots(len(columns), spacing=0.03, across=True)
    for panel, column in enumerate(columns):
        pairs = _in_column(made, part, column)
        printed = {pair.row: pair.published for pair in pairs if pair.published is not None}
        figure.add(
            scatter(
                x=list(printed.values()),
                y=list(printed),
                mode="markers",
                name="published",
                legendgroup="published",
                showlegend=panel == 0,
                marker={"symbol": "diamond-open", "size": 11, "color": INK, "line": {"width": 1.5}},
                hovertemplate="%{y}: %{x:,} published<extra></extra>",
            ),
            plot=panel,
        )
        for number, variant in enumerate(made.variants()):
            own = [(pair, pair.here) for pair in pairs if pair.variant == variant and pair.here]
            figure.add(
                scatter(
                    x=[here.value for _, here in own],
                    y=[pair.row for pair, _ in own],
                    error_x={
                        "type": "data",
                        "symmetric": False,
                        "array": [_edge(here.most, here) - here.value for _, here in own],
                        "arrayminus": [here.value - _edge(here.least, here) for _, here in own],
                        "thickness": 1,
                        "width": 3,
                    },
                    mode="markers",
                    name=variant,
                    legendgroup=variant,
                    showlegend=panel == 0,
                    marker={"size": 7, "color": _COLOURS[number % 3], "symbol": _SYMBOLS[number % 6]},
                    customdata=[_hover(pair) for pair, _ in own],
                    hovertemplate="%{customdata}<extra></extra>",
                ),
                plot=panel,
            )
        values = [*printed.values(), *(pair.here.value for pair in pairs if pair.here)]
        far = 0 < min(values) * _LOGARITHMIC_FROM < max(values)
        title = f"{column} ({part.unit_of(column)})"
        figure.update_xaxes(title_text=title, type="log" if far else "linear", nticks=5, plot=panel)
    style(figure, _AROUND_PX + _ROW_PX * len(rows))
    figure.update_yaxes(categoryorder="array", categoryarray=rows[::-1], showgrid=True, dtick=1)
    left_out = [column for column in part.columns if column not in columns]
    more = f" In the table below, and not drawn: {', '.join(left_out)}." if left_out else ""
    numbers = sorted({pair.here.n for pair in made.of(part) if pair.here})
    span = "…".join(f"{number:,}" for number in dict.fromkeys((numbers[0], numbers[-1])))
    subtitle = f"n = {span} samples a figure · {made.remade.made_from if made.remade else ''}"
    return Chart(key, part.title, subtitle, _MARKS + (_BY_ORDER if by_order else "") + more, (), figure)


def _edge(edge: float | None, made: MadeFigure) -> float:
    return made.value if edge is None else edge


def _hover(pair: Pair) -> str:
    assert pair.here is not None
    lines = [
        f"<b>{pair.row}</b>, {pair.column}",
        f"{pair.variant} {beside.ranged(pair.here, pair.unit)} {pair.unit}",
        f"n = {pair.here.n:,}, resolution {pair.here.resolution:.3g}",
        *([f"published {beside.printed(pair)}"] if beside.printed(pair) else []),
    ]
    return "<br>".join(lines)
