"""A chart for each part of a table: what is published, and what came out here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.loaded.series import INK, MUTED, SHADES
from studies.reproduce import beside
from studies.reproduce.beside import Beside, Pair
from studies.reproduce.published import Part

_ROW_PX, _AROUND_PX, _ORDER_PX = 22, 120, 420
_LOGARITHMIC_FROM = 50
"""Where the greatest figure is so many times the least, the axis is logarithmic."""
_MOST_PANELS = 4
"""As many columns of a part stand beside each other; the tables have all of them."""
_COLOURS = (SHADES[1], SHADES[0], SHADES[2])
_HERE_SYMBOLS = ("circle", "square", "triangle-up")


def charts(made: Beside) -> list[Chart]:
    """One for each part with figures from here, none for a table that was not made."""
    drawn = _order if made.table.compared == "by order" else _side_by_side
    return [
        drawn(made, part, f"{made.table.name}-{number}", columns)
        for number, part in enumerate(made.table.part)
        if (columns := _columns(made, part))
    ]


def _columns(made: Beside, part: Part) -> list[str]:
    """The columns of which something was made here; against published ones if the order counts."""
    against = made.table.compared == "by order"
    found = {
        pair.column for pair in made.of(part) if pair.found and (pair.published is not None or not against)
    }
    return [column for column in part.columns if column in found][:_MOST_PANELS]


def _side_by_side(made: Beside, part: Part, key: str, columns: Sequence[str]) -> Chart:
    """A row for each allocator, a panel for each column."""
    rows = [row for row in made.rows(part) if any(pair.row == row and pair.found for pair in made.of(part))]
    figure = Figure.of_plots(cols=len(columns), spacing=0.03, shared_y=True)
    for place, column in enumerate(columns, start=1):
        pairs = [pair for pair in made.of(part) if pair.column == column and pair.row in rows]
        for trace in _dots(made, pairs, first=place == 1):
            figure.add(trace, col=place)
        figure.update_xaxes(title_text=f"{column} ({part.unit_of(column)})", col=place)
    style(figure, _AROUND_PX + _ROW_PX * len(rows))
    _scale(made, part, columns, figure)
    figure.update_yaxes(categoryorder="array", categoryarray=rows[::-1], showgrid=True, dtick=1)
    return _chart(made, part, key, columns, figure, "Open diamonds are published, filled marks made here.")


def _dots(made: Beside, pairs: Sequence[Pair], first: bool) -> list[Trace]:
    published = {pair.row: pair for pair in pairs if pair.published is not None}
    traces = [
        scatter(
            x=[pair.published for pair in published.values()],
            y=list(published),
            mode="markers",
            name="published",
            legendgroup="published",
            showlegend=first,
            marker={"symbol": "diamond-open", "size": 11, "color": INK, "line": {"width": 1.5}},
            hovertemplate="%{y}: %{x:,} published<extra></extra>",
        )
    ]
    for number, variant in enumerate(made.variants()):
        own = [pair for pair in pairs if pair.variant == variant and pair.found]
        traces.append(
            scatter(
                x=[pair.found.value for pair in own if pair.found],
                y=[pair.row for pair in own],
                error_x=_ranges(own),
                mode="markers",
                name=variant,
                legendgroup=variant,
                showlegend=first,
                marker=_marker(number),
                customdata=[_hover(pair) for pair in own],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    return traces


def _order(made: Beside, part: Part, key: str, columns: Sequence[str]) -> Chart:
    """Published against made here: points on a rising line have the same order."""
    figure = Figure.of_plots(cols=len(columns), spacing=0.09)
    for place, column in enumerate(columns, start=1):
        for number, variant in enumerate(made.variants()):
            own = [
                pair
                for pair in made.of(part, variant)
                if pair.column == column and pair.found and pair.published is not None
            ]
            figure.add(_points(own, variant, number, first=place == 1), col=place)
        figure.update_xaxes(title_text=f"{column}, published", col=place)
    style(figure, _ORDER_PX)
    _scale(made, part, columns, figure)
    figure.update_yaxes(title_text=f"here ({part.unit})", col=1)
    told = "A point for each allocator that both have: the order is the same where they rise together."
    return _chart(made, part, key, columns, figure, told)


def _points(own: Sequence[Pair], variant: str, number: int, first: bool) -> Trace:
    return scatter(
        x=[pair.published for pair in own],
        y=[pair.found.value for pair in own if pair.found],
        error_y=_ranges(own),
        mode="markers+text" if number == 0 else "markers",
        text=[pair.row for pair in own],
        textposition=[("top center", "bottom center")[index % 2] for index in _ranks(own)],
        textfont={"size": 10, "color": MUTED},
        name=variant,
        legendgroup=variant,
        showlegend=first,
        marker=_marker(number),
        customdata=[_hover(pair) for pair in own],
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )


def _ranks(own: Sequence[Pair]) -> list[int]:
    """The place of each point from left to right, so that neighbours' labels part."""
    order = sorted(range(len(own)), key=lambda index: own[index].published or 0.0)
    places = {index: place for place, index in enumerate(order)}
    return [places[index] for index in range(len(own))]


def _marker(number: int) -> dict[str, object]:
    return {"size": 7, "color": _COLOURS[number % 3], "symbol": _HERE_SYMBOLS[number % 3]}


def _ranges(own: Sequence[Pair]) -> dict[str, object]:
    """The ranges from the least to the most of the seeds."""
    found = [pair.found for pair in own if pair.found]
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if one.most is None else one.most - one.value for one in found],
        "arrayminus": [0 if one.least is None else one.value - one.least for one in found],
        "thickness": 1,
        "width": 3,
    }


def _hover(pair: Pair) -> str:
    assert pair.found is not None
    found = pair.found
    lines = [
        f"<b>{pair.row}</b>, {pair.column}",
        f"{pair.variant} {beside.ranged(found, pair.unit)} {pair.unit}",
        f"n = {found.n:,}, resolution {found.resolution:.3g}",
        *([f"published {beside.printed(pair)}"] if beside.printed(pair) else []),
    ]
    return "<br>".join(lines)


def _scale(made: Beside, part: Part, columns: Sequence[str], figure: Figure) -> None:
    """Logarithmic axes where figures lie far apart, and labels that fit."""
    for place, column in enumerate(columns, start=1):
        pairs = [pair for pair in made.of(part) if pair.column == column]
        here = [pair.found.value for pair in pairs if pair.found]
        theirs = [pair.published for pair in pairs if pair.published is not None]
        if made.table.compared == "by order":
            figure.update_yaxes(type=_axis(here), col=place)
            figure.update_xaxes(type=_axis(theirs), nticks=5, col=place)
        else:
            figure.update_xaxes(type=_axis([*here, *theirs]), nticks=5, col=place)


def _axis(values: Sequence[float]) -> str:
    far = [greater / least for least, greater in pairwise((min(values), max(values))) if least > 0]
    return "log" if far and far[0] > _LOGARITHMIC_FROM else "linear"


def _chart(made: Beside, part: Part, key: str, columns: Sequence[str], figure: Figure, told: str) -> Chart:
    left_out = [column for column in part.columns if column not in columns]
    more = f" In the table below, and not drawn: {', '.join(left_out)}." if left_out else ""
    numbers = sorted({pair.found.n for pair in made.of(part) if pair.found})
    counted = f"n = {'…'.join(f'{one:,}' for one in dict.fromkeys((numbers[0], numbers[-1])))} samples"
    assert made.remade is not None
    subtitle = f"{counted} a figure · {made.remade.made_from}"
    return Chart(key, part.title, subtitle, f"{told}{more}", (), figure)
