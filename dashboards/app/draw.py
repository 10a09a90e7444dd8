"""The blocks of a page (dashboards/blocks.py) as components of Dash. It knows no run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from dash import dcc, html

from dashboards.app.address import Address, run_address, sample_address
from dashboards.app.shown import Shown
from dashboards.blocks import (
    Belief,
    Block,
    Cell,
    Column,
    DotLane,
    DotPlot,
    DotRow,
    Grid,
    Group,
    Line,
    PerRun,
    Prose,
    Verbatim,
)
from dashboards.figures.chart import Chart
from dashboards.glossary import marked

CONFIG: Any = {
    "displaylogo": False,
    "responsive": True,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["toImage", "select2d", "lasso2d", "sendChartToCloud"],
}
GRAPH, LONG_GRAPH, FIGURE = "graph", "long-graph", "figure"


def drawn(shown: Shown) -> list[Any]:
    """Everything below the head of the page."""
    parts: list[Any] = [html.H1(shown.page.title)]
    parts += [_belief(shown.page.belief, shown)] if shown.page.belief else []
    parts += [html.P(terms(sentence, prose=True), className="lead") for sentence in shown.page.lead]
    parts += [html.P(sentence, className="badge", role="note") for sentence in shown.remarks]
    parts += [_older(shown)] if shown.left_out else []
    parts += _refused(shown.refused)
    parts += [drawing for block in shown.page.blocks for drawing in _block(block, shown)]
    return parts


def terms(text: str, *, prose: bool = False) -> list[Any]:
    """`text` with the words of the glossary underlined."""
    return [
        html.Dfn(piece.text, className="term", title=piece.means) if piece.means else piece.text
        for piece in marked(text, prose=prose)
    ]


def _belief(belief: Belief, shown: Shown) -> Any:
    """The line on whether to believe the page, and the link to what it rests on."""
    agreement = replace(shown.address, page="agreement")
    return html.P(html.A(belief.words, href=str(agreement)), className=f"belief {belief.level}")


def _older(shown: Shown) -> Any:
    """The sentence on runs for which a later one stands, and the link that shows them too."""
    every = html.A("Show all", href=str(replace(shown.address, every=True)))
    return html.P([shown.left_out, " ", every], className="hint")


def _refused(refused: Mapping[str, str]) -> list[Any]:
    """One line on the runs that cannot be read; unfolded, the sentence on each."""
    if not refused:
        return []
    noun = "1 run is" if len(refused) == 1 else f"{len(refused)} runs are"
    words = f"{noun} left out, for a file there cannot be read. This finds its tables again: "
    each = [
        html.Li([html.Code(f"./lab redecode {run}"), html.Br(), sentence])
        for run, sentence in refused.items()
    ]
    return [html.Details([html.Summary([words, html.Code("./lab redecode RUN")]), html.Ul(each)])]


def _block(block: Block, shown: Shown) -> list[Any]:
    if isinstance(block, Grid):
        if block.one_group is not None:
            return _groups(block, shown)
        return [_folded(block.title, _grid(block, shown))] if block.folded else [_grid(block, shown)]
    if isinstance(block, DotPlot):
        return [_dots(block, shown)]
    if isinstance(block, Chart):
        drawn = figure(block, long=block.key in shown.long)
        return [_folded(block.title, drawn)] if block.folded else [drawn]
    if isinstance(block, PerRun):
        return [_per_run(block, shown)]
    if isinstance(block, Verbatim):
        return [_folded(block.title, html.Pre(block.text, tabIndex="0"))]
    return [_prose(block)] if isinstance(block, Prose) else []


def _folded(title: str, inside: Any, *, opened: bool = False) -> Any:
    return html.Details([html.Summary(title), inside], open=opened)


def _groups(grid: Grid, shown: Shown) -> list[Any]:
    """Of a table whose groups are chosen, each group to unfold; the first choice is open."""
    head = html.Div([html.H2(grid.title), downloads(shown.address, grid.key)], className="head")
    groups = [
        _folded(group.words, _table(replace(grid, groups=(group,)), shown), opened=place == grid.one_group)
        for place, group in enumerate(grid.groups)
    ]
    return [html.Section([head, *groups, *([html.P(grid.legend, className="hint")] if grid.legend else [])])]


def _dots(plot: DotPlot, shown: Shown) -> Any:
    ticks = html.Span(
        [html.Span(text, style=_left(percent)) for percent, text in plot.ticks], className="lane"
    )
    head = [
        html.Th("allocator", scope="col"),
        html.Th(ticks, scope="col", className="track"),
        html.Th(f"worst ({plot.unit})", scope="col", className="number"),
    ]
    bodies = [_lane(lane, plot, shown) for lane in plot.lanes]
    named: Any = {"aria-label": plot.title}
    table = html.Table(
        [html.Thead(html.Tr(head)), *bodies], className="dots dense" if plot.dense else "dots", **named
    )
    return html.Section([table, html.P(terms(plot.legend, prose=True), className="hint")])


def _lane(lane: DotLane, plot: DotPlot, shown: Shown) -> Any:
    span: Any = {"colSpan": 3, "scope": "rowgroup"}
    head = html.Tr(html.Th(terms(lane.words), **span), className="group")
    return html.Tbody([head, *(_dot_row(row, plot, shown) for row in lane.rows)])


def _dot_row(row: DotRow, plot: DotPlot, shown: Shown) -> Any:
    run_id = shown.ids.get(row.run_id)
    name: list[Any] = [row.name]
    if run_id is not None:
        to = sample_address(run_id, row.sample.key) if row.sample else run_address(run_id)
        name = [html.A(row.name, href=to)]
    name += [" ", html.Small(row.badge, className="lock")] if row.badge else []
    width = {"width": f"{row.worst_percent - row.median_percent:.2f}%"}
    marks = [
        *(html.I(style=_left(percent)) for percent, _ in plot.ticks),
        html.Span(className="range", style=_left(row.median_percent) | width),
        html.Span(className="median", style=_left(row.median_percent)),
        html.Span(className="worst", style=_left(row.worst_percent)),
    ]
    if row.bound_percent is not None:
        kind = "bound grows" if row.bound_grows else "bound"
        marks.append(html.Span(className=kind, style=_left(row.bound_percent)))
    cells = [
        html.Th(name, scope="row"),
        html.Td(html.Span(marks, className="lane"), className="track"),
        html.Td(row.text, className="number", title=row.whole),
    ]
    return html.Tr(cells, title=row.why)


def _left(percent: float) -> dict[str, str]:
    return {"left": f"{percent:.2f}%"}


def _prose(block: Prose) -> Any:
    heading = [html.H2(block.title)] if block.title else []
    if block.listed:
        return html.Section(
            [*heading, html.Ul([html.Li(terms(paragraph, prose=True)) for paragraph in block.paragraphs])]
        )
    return html.Section([*heading, *(html.P(terms(paragraph, prose=True)) for paragraph in block.paragraphs)])


def _per_run(block: PerRun, shown: Shown) -> Any:
    parts = [
        html.Div(figure(chart, long=chart.key in shown.long), **{"data-entry": str(entry)})  # type: ignore[arg-type]
        for entry, chart in block.charts
    ]
    return html.Section([html.H2(block.title), *parts])


def figure(chart: Chart, *, long: bool = False) -> Any:
    """A figure with its words, its two ways out as a picture, and room for the plot.

    A `long` one has traces that are drawn in part, and gets more points when a reader zooms in.
    """
    key, title = chart.key, chart.title
    height = int(chart.figure.layout["height"])
    chart.figure.update_layout(uirevision=key)
    saved = html.Span(pictures(title, chart.subtitle), className="tools")
    return html.Figure(
        [
            html.Figcaption(
                [
                    html.Div([html.H2(title), saved], className="head"),
                    html.P(chart.subtitle, className="subtitle"),
                    html.P(terms(chart.explanation, prose=True), className="explanation"),
                    *(html.P(badge, className="badge", role="note") for badge in chart.badges),
                ]
            ),
            dcc.Store(id={"type": FIGURE, "key": key}, data=chart.figure.to_dict()),
            html.Div(
                dcc.Graph(
                    id={"type": LONG_GRAPH if long else GRAPH, "key": key},
                    config=CONFIG,
                    responsive=True,
                    style={"height": f"{height}px"},
                ),
                className="plot",
                role="group",
                **{"aria-label": f"{title}. {chart.subtitle}"},  # type: ignore[arg-type]
            ),
        ],
        **{"data-figure": key},  # type: ignore[arg-type]
    )


def pictures(title: str, subtitle: str) -> list[Any]:
    """Buttons that save the figure around them; the browser does it (assets/app.js)."""
    return [
        html.Button(
            kind.upper(),
            className="tool",
            title=f"Save this figure as {kind.upper()}",
            **{"data-picture": kind, "data-title": title, "data-subtitle": subtitle},  # type: ignore[arg-type]
        )
        for kind in ("svg", "png")
    ]


def _table(grid: Grid, shown: Shown) -> Any:
    names = html.Th(terms(grid.names), scope="col")
    heads = [
        html.Th(_noted(column), scope="col", className="" if column.numeric else "words")
        for column in grid.columns
    ]
    bodies = [_group(group, grid, shown) for group in grid.groups]
    table = html.Table([html.Thead(html.Tr([names, *heads])), *bodies], className="grid")
    box = {"role": "region", "aria-label": grid.title, "tabIndex": "0"}
    return html.Div(table, className="scroll", **box)  # type: ignore[arg-type]


def _grid(grid: Grid, shown: Shown) -> Any:
    return html.Section(
        [
            html.Div([html.H2(grid.title), downloads(shown.address, grid.key)], className="head"),
            _table(grid, shown),
            *([html.P(terms(grid.legend, prose=True), className="hint")] if grid.legend else []),
        ]
    )


def downloads(address: Address, table: str) -> Any:
    """The table as a file: links that save it."""
    return html.Span(
        [
            html.A(
                words,
                href=f"/download/{quote(address.page)}/{quote(table)}.{kind}{address.query}",
                className="tool",
                download=f"{table}.{kind}",
                title=f"Save this table as {words}",
            )
            for kind, words in (("csv", "CSV"), ("parquet", "Parquet"))
        ],
        className="tools",
    )


def _noted(column: Column) -> list[Any]:
    return [*terms(column.words), *([html.Small(column.note)] if column.note else [])]


def _classes(number: int, column: Column, grid: Grid) -> str:
    return " ".join(["pinned"] * (number < grid.pinned) + ["words"] * (not column.numeric))


def _group(group: Group, grid: Grid, shown: Shown) -> Any:
    span: Any = {"colSpan": len(grid.columns) + 1, "scope": "colgroup"}
    words: Any = [*terms(group.words), *([" ", html.Small(group.note)] if group.note else [])]
    head = [html.Tr(html.Th(html.Span(words), **span), className="group")] if group.words else []
    return html.Tbody([*head, *(_line(line, grid, shown) for line in group.lines)])


def _line(line: Line, grid: Grid, shown: Shown) -> Any:
    run_id = shown.ids.get(line.run_id)
    name: list[Any] = [html.A(line.name, href=run_address(run_id))] if run_id else terms(line.name)
    if line.entry is not None and shown.picked:
        name.insert(0, html.Span(className="swatch", style={"background": f"var(--run-{line.entry})"}))
    if line.verdict and line.verdict != "complete" and f"({line.verdict})" not in line.name:
        name.append(html.Small(line.verdict, className=f"verdict {line.verdict}"))
    classes = [_classes(number, column, grid) for number, column in enumerate(grid.columns)]
    cells = [
        _cell(cell, line.entry, css_class, shown) for cell, css_class in zip(line.cells, classes, strict=True)
    ]
    return html.Tr([html.Th(name, scope="row"), *cells])


def _cell(cell: Cell, entry: int | None, classes: str, shown: Shown) -> Any:
    inside: list[Any] = [_text(cell, shown)]
    if cell.share_percent is not None:
        plain = entry is None or not shown.picked
        colour = "var(--muted)" if plain else f"var(--run-{entry}, var(--muted))"
        bar = {"width": f"{min(max(cell.share_percent, 0), 100):.1f}%", "background": colour}
        inside.append(html.Span(className="bar", style=bar))
    inside += [html.Small(note) for note in cell.notes]
    return html.Td(inside, className=classes, title=cell.why or cell.whole or None)


def _text(cell: Cell, shown: Shown) -> Any:
    if cell.sample is None or cell.sample.run_id not in shown.ids:
        return cell.text
    return html.A(cell.text, href=sample_address(shown.ids[cell.sample.run_id], cell.sample.key))
