"""One allocator on several boards: its longest sections in cycles and in µs."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.compare.boards import Group, OnBoard, Worst
from base.microseconds import digits
from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, Trace, bar
from dashboards.formatting import samplerate

_ROW_PX = 34
_AROUND_PX = 130
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_EXPLANATION = (
    "Left: how much the core had to do. Right: how long it took, which is what an interrupt waits. More "
    "wait states or a smaller core make cycles more; a faster clock makes each shorter. No board is "
    "better than another: it is another machine."
)


def boards(groups: Sequence[Group]) -> Chart | None:
    """The longest section of an allocation: a row a board, a bar for each of `groups`, which are of
    one scenario. None without one.
    """
    drawn = [group for group in groups if any(line.figures.allocate for line in group.lines)]
    if not drawn:
        return None
    figure = Figure.of_plots(cols=2, spacing=0.06, shared_y=True)
    rows = list(dict.fromkeys(line.name for group in drawn for line in group.lines))
    for place, group in enumerate(drawn):
        colour = _COLOURS[place % len(_COLOURS)]
        for col, unit in enumerate(("cycles", "µs"), 1):
            figure.add(_bars(group, unit, colour, first=col == 1), row=1, col=col)
    style(figure, _AROUND_PX + _ROW_PX * len(rows) * max(len(drawn), 2))
    figure.update_layout(
        barmode="group", bargap=0.25, margin={"t": 40}, showlegend=True, legend={"traceorder": "normal"}
    )
    figure.update_yaxes(autorange="reversed", categoryorder="array", categoryarray=rows)
    for col, words in enumerate(("cycles", "µs"), 1):
        title = f"longest critical section of an allocation ({words})"
        figure.update_xaxes(title_text=title, rangemode="tozero", col=col)
    return Chart(
        "boards",
        f"{drawn[0].scenario} on {len({line.title for group in drawn for line in group.lines})} boards",
        _counted(drawn),
        _EXPLANATION,
        tuple(_badge(line) for group in drawn for line in group.lines if not line.manifest.complete),
        figure,
    )


def _bars(group: Group, unit: str, colour: str, *, first: bool) -> Trace:
    bars = [(line, worst) for line in group.lines if (worst := line.figures.allocate) is not None]
    values = [worst.cycles if unit == "cycles" else worst.ns / 1000 for _, worst in bars]
    texts = [f"{worst.cycles:,.0f}" if unit == "cycles" else digits(worst.ns) for _, worst in bars]
    return bar(
        x=values,
        y=[line.name for line, _ in bars],
        orientation="h",
        name=group.allocator,
        legendgroup=group.allocator,
        showlegend=first,
        marker={"color": colour},
        text=texts,
        textposition="auto",
        hovertext=[_hover(line, worst) for line, worst in bars],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _hover(line: OnBoard, worst: Worst) -> str:
    by = "by its counter" if worst.counted else "by the wire"
    budget = "" if worst.budget_ns is None else f" ± {digits(worst.budget_ns)}"
    return (
        f"{line.name}: {worst.cycles:,.0f} cycles {by}<br>{digits(worst.ns)}{budget} µs on the wire, "
        f"n = {worst.n:,}<br>{line.run}"
    )


def _counted(groups: Sequence[Group]) -> str:
    lines = [line for group in groups for line in group.lines]
    counts = sorted({line.figures.allocate.n for line in lines if line.figures.allocate})
    count_words = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    rates = sorted({line.figures.samplerate_hz for line in lines})
    listed = ", ".join(f"{samplerate(rate)} (±{digits(1e9 / rate)} µs)" for rate in rates)
    return f"n = {count_words} allocations each · {listed} · {len(lines)} runs, named in the tables"


def _badge(line: OnBoard) -> str:
    return f"{line.run} is {line.manifest.verdict}: {' '.join(line.manifest.reasons)}"
