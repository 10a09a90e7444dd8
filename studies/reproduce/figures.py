"""A chart for each part of a table: what is published, and what came out here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log10
from typing import Any

from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.loaded.series import INK, MUTED, SHADES
from studies.reproduce import beside, labels
from studies.reproduce.beside import Beside, Pair
from studies.reproduce.published import Part

_ROW_PX, _AROUND_PX, _ORDER_PX = 22, 120, 460
_PAGE_PX, _PANEL_PX, _MOST_ACROSS = 1040, 368, 2
"""Of a chart by order: about the width of the page, a panel's height, panels beside each other."""
_LOGARITHMIC_FROM = 50
"""Where the greatest figure is so many times the least, the axis is logarithmic."""
_MOST_PANELS = 4
"""As many columns of a part stand beside each other; the tables have all of them."""
_MARKS = (
    "Open diamonds are published, filled marks made here. Bars go from the least to the greatest of the "
    "seeds, or of the placements of the code."
)
_COLOURS = (SHADES[1], SHADES[0], SHADES[2])
_HERE_SYMBOLS = ("circle", "square", "triangle-up", "cross", "x", "star")


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
    return _chart(made, part, key, columns, figure, _MARKS)


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
    """Published against made here, both on one scale, with the line on which they are equal."""
    across = min(len(columns), _MOST_ACROSS)
    down = ceil(len(columns) / across)
    figure = Figure.of_plots(rows=down, cols=across, spacing=0.1, spacing_down=0.22 / down)
    for number, column in enumerate(columns):
        place = {"row": number // across + 1, "col": number % across + 1}
        pairs = [
            pair
            for pair in made.of(part)
            if pair.column == column and pair.found and pair.published is not None
        ]
        scale = _scale_of(pairs)
        figure.add(_equal_values(scale, first=number == 0), **place)
        for shade, variant in enumerate(made.variants()):
            own = [pair for pair in pairs if pair.variant == variant]
            if own:
                figure.add(_points(own, variant, shade, first=number == 0), **place)
        for label in _labels(made, pairs, scale, across):
            figure.annotate(label, **place)
        axis: dict[str, Any] = {"type": scale.kind, "range": scale.range, "nticks": 6}
        figure.update_xaxes(title_text=f"{column}, published ({part.unit_of(column)})", **axis, **place)
        figure.update_yaxes(title_text=f"here ({part.unit_of(column)})", **axis, **place)
    style(figure, _ORDER_PX * down)
    told = (
        "A point for each allocator that both have; a label names the first variant's, the others stand "
        "above or below it. On the line both are equal; the order is the same where points rise together."
    )
    return _chart(made, part, key, columns, figure, told)


@dataclass(frozen=True)
class _Scale:
    """One scale for both axes: `kind` as plotly names it, `range` in its units."""

    kind: str
    range: tuple[float, float]

    def share(self, value: float) -> float:
        """The value's place between the ends, 0 to 1."""
        least, most = self.range
        return ((log10(value) if self.kind == "log" else value) - least) / (most - least)


def _scale_of(pairs: Sequence[Pair]) -> _Scale:
    values = [pair.published for pair in pairs if pair.published is not None]
    values += [pair.found.value for pair in pairs if pair.found]
    kind = _axis(values)
    ends = [log10(end) if kind == "log" else end for end in (min(values), max(values))]
    margin = 0.12 * (ends[1] - ends[0]) or 1.0
    return _Scale(kind, (ends[0] - margin, ends[1] + margin))


def _equal_values(scale: _Scale, first: bool) -> Trace:
    ends = [10**end if scale.kind == "log" else end for end in scale.range]
    return scatter(
        x=ends,
        y=ends,
        mode="lines",
        name="equal values",
        legendgroup="equal values",
        showlegend=first,
        line={"color": MUTED, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )


def _labels(made: Beside, pairs: Sequence[Pair], scale: _Scale, across: int) -> Iterator[dict[str, object]]:
    """The names of the first variant's points, beside them."""
    named = [pair for pair in pairs if pair.variant == made.variants()[0]]
    width = _PAGE_PX / across * 0.9
    spots = [
        (width * scale.share(pair.published), -_PANEL_PX * scale.share(pair.found.value))
        for pair in (*named, *(pair for pair in pairs if pair not in named))
        if pair.found and pair.published is not None
    ]
    words = [pair.row for pair in named]
    found = labels.offsets(spots[: len(named)], words, spots[len(named) :])
    for pair, (right, down) in zip(named, found, strict=True):
        assert pair.published is not None and pair.found
        at = [log10(value) if scale.kind == "log" else value for value in (pair.published, pair.found.value)]
        yield {
            "x": at[0],
            "y": at[1],
            "ax": right,
            "ay": down,
            "text": pair.row,
            "font": {"size": 11, "color": INK},
            "showarrow": True,
            "arrowhead": 0,
            "arrowwidth": 0.7,
            "arrowcolor": MUTED,
            "standoff": 4,
            "borderpad": 0,
        }


def _points(own: Sequence[Pair], variant: str, number: int, first: bool) -> Trace:
    return scatter(
        x=[pair.published for pair in own],
        y=[pair.found.value for pair in own if pair.found],
        error_y=_ranges(own),
        mode="markers",
        name=variant,
        legendgroup=variant,
        showlegend=first,
        marker=_marker(number),
        customdata=[_hover(pair) for pair in own],
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )


def _marker(number: int) -> dict[str, object]:
    return {"size": 7, "color": _COLOURS[number % 3], "symbol": _HERE_SYMBOLS[number % 6]}


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
