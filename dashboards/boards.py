"""One allocator on several boards: figure and tables of a report, and a page of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.compare.boards import MEANING, Across, Group, tables
from base.microseconds import digits
from dashboards.blocks import Chart
from dashboards.figures.chart import X_US, per_series, style
from dashboards.formatting import samplerate
from dashboards.loaded.series import SHADES
from dashboards.page.templates import Sheet

_ROW_PX = 34
_AROUND_PX = 130
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
    figure = make_subplots(cols=2, shared_yaxes=True, horizontal_spacing=0.06)
    lines = [line for group in drawn for line in group.lines]
    rows = list(dict.fromkeys(line.name for line in lines))
    for place, group in enumerate(drawn):
        bars = [(line, worst) for line in group.lines if (worst := line.allocate)]
        for column, values, words in (
            (1, [worst.cycles for _, worst in bars], "%{x:,.0f} cycles"),
            (2, [worst.ns / 1000 for _, worst in bars], X_US),
        ):
            bar = go.Bar(
                x=values,
                y=[line.name for line, _ in bars],
                orientation="h",
                name=group.allocator,
                legendgroup=group.allocator,
                showlegend=column == 1,
                marker={"color": SHADES[place % len(SHADES)]},
                texttemplate=words,
                textposition="auto",
                customdata=[(line.run, worst.n) for line, worst in bars],
                hovertemplate=f"%{{y}}: {words}, n = %{{customdata[1]:,}}<br>%{{customdata[0]}}",
            )
            figure.add_trace(bar, row=1, col=column)
    style(figure, _AROUND_PX + _ROW_PX * len(rows) * max(len(drawn), 2))
    figure.update_layout(
        barmode="group", bargap=0.25, margin={"t": 40}, showlegend=True, legend={"traceorder": "normal"}
    )
    figure.update_yaxes(autorange="reversed", categoryorder="array", categoryarray=rows)
    for column, words in enumerate(("cycles", "µs"), 1):
        title = f"longest critical section of an allocation ({words})"
        figure.update_xaxes(title_text=title, rangemode="tozero", col=column)
    counts = per_series([worst.n for line in lines if (worst := line.allocate)], "allocations")
    rates = sorted({line.manifest.samplerate_hz for line in lines})
    listed = ", ".join(f"{samplerate(rate)} (±{digits(1e9 / rate)} µs)" for rate in rates)
    return Chart(
        "boards",
        f"{drawn[0].scenario} on {len({line.title for line in lines})} boards",
        f"{counts} · {listed} · {len(lines)} runs, named in the tables",
        _EXPLANATION,
        tuple(
            f"{line.run} is {line.manifest.verdict}: {' '.join(line.manifest.reasons)}"
            for line in lines
            if not line.manifest.complete
        ),
        figure,
    )


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
        "Tailscope: one allocator on several boards",
        f"One allocator on {len(boards)} boards: {', '.join(boards)}.",
        [*remarks, MEANING, *across.left_out],
        charts,
        tables(across),
        "Entry by the manual: from the arrival of an interrupt to its handler's first instruction, where "
        "memory answers at once. The answer when idle has wait states, the handler's first instructions and "
        "the pin in it.",
    )
