"""One allocator on several boards: a figure and a table of a report, and a page of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.compare.boards import COLUMNS, MEANING, WORDS, Across, Group, figures, tables
from base.microseconds import digits
from dashboards import blocks
from dashboards.blocks import Cell, Column, Grid
from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, bar
from dashboards.formatting import samplerate
from dashboards.loaded.series import Series
from dashboards.page.templates import Sheet
from dashboards.tables import line_of

_ROW_PX = 34
_AROUND_PX = 130
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_EXPLANATION = (
    "Left: how much the core had to do. Right: how long it took, which is what an interrupt waits. More "
    "wait states or a smaller core make cycles more; a faster clock makes each shorter. No board is "
    "better than another: it is another machine."
)


def figure(groups: Sequence[Group]) -> Chart | None:
    """The longest section of an allocation, in cycles and in µs: a row a board, a bar for each of
    `groups`, which are of one scenario. None without one.
    """
    drawn = [group for group in groups if any(line.allocate for line in group.lines)]
    if not drawn:
        return None
    figure = Figure.of_plots(2, spacing=0.06, across=True)
    lines = [line for group in drawn for line in group.lines]
    rows = list(dict.fromkeys(line.name for line in lines))
    for place, group in enumerate(drawn):
        bars = [(line, worst) for line in group.lines if (worst := line.allocate)]
        hover = [
            f"{line.name}: {worst.cycles:,.0f} cycles by {'its counter' if worst.counted else 'the wire'}<br>"
            f"{digits(worst.ns)}{'' if worst.budget_ns is None else f' ± {digits(worst.budget_ns)}'} µs on "
            f"the wire, n = {worst.n:,}<br>{line.run}"
            for line, worst in bars
        ]
        for plot, values, texts in (
            (0, [worst.cycles for _, worst in bars], [f"{worst.cycles:,.0f}" for _, worst in bars]),
            (1, [worst.ns / 1000 for _, worst in bars], [digits(worst.ns) for _, worst in bars]),
        ):
            drawn_bars = bar(
                x=values,
                y=[line.name for line, _ in bars],
                orientation="h",
                name=group.allocator,
                legendgroup=group.allocator,
                showlegend=plot == 0,
                marker={"color": _COLOURS[place % len(_COLOURS)]},
                text=texts,
                textposition="auto",
                hovertext=hover,
                hovertemplate="%{hovertext}<extra></extra>",
            )
            figure.add(drawn_bars, plot=plot)
    style(figure, _AROUND_PX + _ROW_PX * len(rows) * max(len(drawn), 2))
    figure.update_layout(
        barmode="group", bargap=0.25, margin={"t": 40}, showlegend=True, legend={"traceorder": "normal"}
    )
    figure.update_yaxes(autorange="reversed", categoryorder="array", categoryarray=rows)
    for plot, words in enumerate(("cycles", "µs")):
        title = f"longest critical section of an allocation ({words})"
        figure.update_xaxes(title_text=title, rangemode="tozero", plot=plot)
    counts = sorted({line.allocate.n for line in lines if line.allocate})
    count_words = " to ".join(dict.fromkeys(f"{count:,}" for count in (counts[0], counts[-1])))
    rates = sorted({line.manifest.samplerate_hz for line in lines})
    listed = ", ".join(f"{samplerate(rate)} (±{digits(1e9 / rate)} µs)" for rate in rates)
    return Chart(
        "boards",
        f"{drawn[0].scenario} on {len({line.title for line in lines})} boards",
        f"n = {count_words} allocations each · {listed} · {len(lines)} runs, named in the tables",
        _EXPLANATION,
        tuple(
            f"{line.run} is {line.manifest.verdict}: {' '.join(line.manifest.reasons)}"
            for line in lines
            if not line.manifest.complete
        ),
        figure,
    )


def table(groups: Sequence[Group], series: Sequence[Series]) -> Grid:
    """A group for each of `groups`, a row for each board; `series` are their runs."""
    of_run, made = {member.run.id: member for member in series}, []
    for group in groups:
        lines = [
            replace(
                line_of(of_run[line.run], tuple(Cell(each.text, each.value) for each in figures(line))),
                name=line.name,
            )
            for line in group.lines
        ]
        made.append(blocks.Group(group.allocator, tuple(lines), note=group.remark))
    columns = tuple(Column(key, words, numeric=key not in WORDS) for key, words in COLUMNS)
    return Grid("boards", "By board", columns, tuple(made), names="board", legend=MEANING, pinned=0)


def sheet(across: Across) -> Sheet:
    """The page: a figure for each scenario, and the tables. Equal runs give equal text."""
    boards = list(dict.fromkeys(line.title for group in across.groups for line in group.lines))
    by_scenario: dict[str, list[Group]] = {}
    for group in across.groups:
        by_scenario.setdefault(group.scenario, []).append(group)
    charts = [
        replace(chart, key=f"boards-{number}")
        for number, chart in enumerate(map(figure, by_scenario.values()))
        if chart is not None
    ]
    remarks = [group.remark for group in across.groups if group.remark]
    return Sheet(
        "boards.html",
        f"One allocator on {len(boards)} boards: {', '.join(boards)}.",
        [*remarks, MEANING, *across.left_out],
        charts,
        tables(across),
    )
