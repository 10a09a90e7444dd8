"""Figures of interrupts: what a stimulus met, in which depth and at which phase, and how long it
waited.
"""

from __future__ import annotations

from html import escape

import numpy as np
import plotly.graph_objects as go
import polars as pl

from base.metrology.summaries import AT_LEAST
from base.run_folder.quantities import LATENCY, TASK, Quantity
from dashboards.blocks import Chart
from dashboards.figures.chart import (
    X_US,
    Y_US,
    beside,
    entry,
    in_us,
    leading,
    line,
    make_chart,
    meta,
    per_series,
    points,
)
from dashboards.formatting import grouped, microseconds, short
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import (
    INK,
    MEANT_DOT,
    Members,
    Series,
    about_control,
    caveats,
    spares_interrupts,
)
from dashboards.waveforms import interrupt_keys, operation_keys
from scenarios.operations import CALLS, KERNEL_CALLS

_STRIP_PX = 40
_CLASSES = {
    "critical": "met a critical section",
    "operation": "in an operation, not critical",
    "none": "outside operations",
    "control": "control interrupt",
}


def interrupt_latency(series: Members) -> Chart | None:
    """A strip for each run of the interrupts that met a critical section, with count and maximum,
    the worst first; and so of those that met none. None without any.
    """
    figure, total = go.Figure(), 0
    for hit, words in _CLASSES.items():
        chosen = pl.col("control") if hit == "control" else ~pl.col("control") & (pl.col("hit") == hit)
        waits = [(table, member) for member in series if len(table := member.run.waits.filter(chosen))]
        for table, member in sorted(waits, key=lambda pair: -pair[0]["isr_latency_ns"].max()):  # type: ignore[operator]
            undecided, n = (int(table[name].sum()) for name in ("undecided", "n"))
            total += n
            sign = AT_LEAST if table["open"].any() else ""
            worst = sign + microseconds(float(table["isr_latency_ns"].max()))  # type: ignore[arg-type]
            row, text = f"{hit} {member.style.entry}", f"{words}: {member.label}, max {worst}"
            doubt = f", {grouped(undecided)} of them undecided" if undecided else ""
            distinct = (
                table.group_by("isr_latency_ns", maintain_order=True)
                .agg(pl.col("n").sum(), pl.first("sample", "operation_seq"))
                .sort("isr_latency_ns")
            )
            colour = {"width": 1.5, "color": member.style.colour}
            figure.add_scatter(
                x=in_us(distinct["isr_latency_ns"]),
                y=np.full(len(distinct), row),
                mode="markers",
                marker_symbol="line-ns",
                marker_size=11,
                marker_line=colour,
                marker_opacity=0.6,
                name=member.label,
                meta=meta(member, rows=1),
                customdata=list(zip(interrupt_keys(distinct), distinct["n"], strict=True)),
                hovertemplate=f"{X_US}, seen %{{customdata[1]}} times<br>%{{customdata[0]}}",
            )
            # Above its strip, the words take no width from a narrow screen.
            figure.add_scatter(
                x=[0],
                y=[row],
                mode="markers+text",
                marker_size=20,
                marker_opacity=0,
                text=f"{text}, n = {grouped(n)}{doubt}",
                textposition="top right",
                textfont_size=12,
                textfont_color=INK,
                hoverinfo="skip",
                cliponaxis=False,
                meta=entry(member),
            )
    if not figure.data:
        return None
    figure.update_yaxes(type="category", autorange="reversed", showticklabels=False, ticks="", showgrid=False)
    figure.update_layout(
        meta={"around_px": 90, "row_px": _STRIP_PX}, showlegend=False, margin_l=18, margin_t=30
    )
    explanation = (
        "Each stroke is a latency that occurred. Met a critical section: CRIT was high at some sample "
        "between stimulus and answer, so the interrupt waited for its end. Undecided: an edge of CRIT lies "
        f"so near that it may have met it or not. {about_control(series)} "
    ) + caveats(series)
    merged = sum(int(member.run.waits["merged"].sum()) for member in series)
    counted = f"n = {grouped(total)} answered stimuli"
    counted += f", {grouped(merged)} merged into the wait of an earlier one" if merged else ""
    title, across = "Interrupt latency by what it met", "latency, stimulus to handler (µs)"
    height = 90 + _STRIP_PX * len(figure.data) // 2
    return make_chart("latency", title, series, counted, explanation, figure, height, across)


def at_depth(run: LoadedRun) -> pl.DataFrame:
    """The answered interrupts of a run in operations that have a depth, and that `depth`."""
    depths = run.look("operations", "seq", "depth").rename({"seq": "operation_seq"}).drop_nulls()
    columns = ("control", "sample", "operation_seq", LATENCY.column, TASK.column)
    answered = run.look("interrupts", *columns).drop_nulls(LATENCY.column)
    return answered.join(depths, on="operation_seq", how="inner", maintain_order="left")


def latency_by_depth(series: Members) -> Chart | None:
    """The worst STIM→ISR of each band of depths, and each CTRL→CISR. None without depths."""
    explanation = (
        "Points are single interrupts that fell into an operation of that depth; the line is the worst of "
        "each band. A dip means that no stimulus came early in a search, not that the search was shorter. "
    )
    if control_words := about_control(series):
        explanation += f"Crosses are the control interrupt. {control_words} "
    what, title = "interrupts during operations with a depth", "Interrupt latency against depth"
    return _by_depth("depth", title, series, LATENCY, what, explanation)


def task_latency_by_depth(series: Members) -> Chart | None:
    """The worst STIM→TASK of each band of depths.

    None without depths, or if every lock masks interrupts.
    """
    if not any(spares_interrupts(member) for member in series):
        return None
    explanation = (
        "The time from the stimulus to the first instruction of the task that its interrupt wakes, with the "
        "answer and the switch of tasks in it. It grows with a critical section, whatever the lock. "
    )
    what, title = "tasks woken during operations with a depth", "Task latency against depth"
    return _by_depth("task", title, series, TASK, what, explanation)


BANDS = 16


def _by_depth(
    key: str, title: str, series: Members, quantity: Quantity, what: str, explanation: str
) -> Chart | None:
    """Each series' interrupts as points, and a line through the worst of each band: band b is
    depths b·width+1 … (b+1)·width.
    """
    every = [at_depth(member.run) for member in series]
    tables = [table.filter(~pl.col("control")).drop_nulls(quantity.column) for table in every]
    deepest = max((int(table["depth"].max()) for table in tables if len(table)), default=0)  # type: ignore[arg-type]
    if not deepest:
        return None
    width = -(-deepest // BANDS)
    figure = go.Figure()
    for member, table, met in zip(series, tables, every, strict=True):
        control = met.filter("control") if quantity is LATENCY else met.clear()
        for part, words, marker in (
            (table, "single interrupts", points(member, size=4, opacity=0.35)),
            (control, "control interrupt", {**points(member, size=5), "symbol": "x-thin-open"}),
        ):
            figure.add_scatter(
                x=part["depth"],
                y=in_us(part[quantity.column]),
                mode="markers",
                marker=marker,
                customdata=interrupt_keys(part),
                hovertemplate=f"{words}, depth %{{x}}: {Y_US}<br>operation %{{customdata}}",
                **beside(member, words) | {"meta": meta(member)},
            )
        worst = (
            table.with_columns(band=(pl.col("depth").cast(pl.Int64) - 1).clip(0) // width)
            .with_columns(n=pl.len().over("band"))
            .sort("band", quantity.column, descending=[False, True], maintain_order=True)
            .unique("band", keep="first", maintain_order=True)
        )
        longest = table[quantity.column].max(), "ns", member.run.summary(quantity).at_least
        figure.add_scatter(
            x=worst["band"] * width + (width + 1) / 2,
            y=in_us(worst[quantity.column]),
            mode="lines+markers",
            marker=points(member, 8, 1),
            line=line(member),
            **leading(member, *longest),
            customdata=list(zip(interrupt_keys(worst), worst["n"], strict=True)),
            hovertemplate=f"around depth %{{x}}: worst {Y_US} of n = %{{customdata[1]}}<br>"
            "operation %{customdata[0]}",
        )
    axes = f"depth (bands of {width})", f"{quantity.words} (µs)"
    counted = per_series([len(table) for table in tables], what)
    return make_chart(key, title, series, counted, explanation + caveats(series), figure, 460, *axes)


LINES_MOST = 8
"""More lines would hide the points: a sweep over a ramp has a depth for every few stimuli."""


def latency_by_phase(series: Members) -> Chart | None:
    """Every swept stimulus, and for each curve a line of critical section plus entry.

    None without a sweep.
    """
    swept = [(member, table) for member in series if len(table := by_phase(member))]
    if not swept:
        return None
    figure = go.Figure()
    for member, table in swept:
        symbols = ["x" if cross else member.style.symbol for cross in table["tick"].fill_null(False)]
        labels = table["label"].fill_null("no label")
        longest = member.run.summary(LATENCY)
        figure.add_scatter(
            x=in_us(table["phase_ns"]),
            y=in_us(table["isr_latency_ns"].round(1)),
            mode="markers",
            marker={**points(member, size=4, opacity=0.6), "symbol": symbols},
            **leading(member, table["isr_latency_ns"].max(), "ns", longest.at_least),
            customdata=list(zip(operation_keys(table["seq"]), labels, strict=True)),
            hovertemplate=f"%{{customdata[1]}}: %{{x:,.2f}} µs into the operation, latency {Y_US}<br>"
            "operation %{customdata[0]}",
        )
        bounds = member.run.manifest.sweep_bounds
        # From the operation's start to where the latency has fallen to its least.
        for label, bound_ns in bounds if len(bounds) <= LINES_MOST else ():
            name = escape(label, quote=False)
            figure.add_scatter(
                x=in_us([0, bound_ns]),
                y=in_us([bound_ns, bound_ns]),
                mode="lines",
                line=line(member, 1, MEANT_DOT),
                hovertemplate=f"{name}: critical section + entry: {Y_US}",
                **beside(member, name),
            )
    latest_us = max(float(table["phase_ns"][-1]) / 1000 for _, table in swept)
    # A stimulus further left is answered before the operation begins.
    window = {"clipmin": -0.02 * latest_us}
    figure.update_xaxes(rangemode="normal", autorange=True, autorangeoptions=window)
    axes = "stimulus after the beginning of the operation (µs)", "latency (µs)"
    shown = [member for member, _ in swept]
    counted = per_series([len(table) for _, table in swept], "swept stimuli")
    explanation = (
        "Each operation meets one stimulus, a little later each time. Before the mask is up, the interrupt "
        "is answered at once. Once it is up, the latency jumps to the whole critical section; from there it "
        "falls by one cycle for each cycle that the stimulus comes later. A dotted line is the sum of two "
        "other measurements: the width of the critical section, and what an interrupt waits for beside it, "
        "found with an empty section swept the same way. A curve that just touches its line shows that "
        "nothing else masks. Points above it met a tick (crosses) or the control interrupt, which makes the "
        "section itself longer. "
    ) + caveats(shown)
    title = "Interrupt latency against phase"
    return make_chart("phase", title, shown, counted, explanation, figure, 480, *axes)


def by_phase(series: Series) -> pl.DataFrame:
    """A row for each answered stimulus of a sweep, ordered by phase.

    Beside its own columns it has the operation's `seq` and `label`, and `phase_ns`: how long after
    the rise of OP it came. A whole sweep has as many stimuli as measured operations, in the same
    order; where the numbers differ, or the run is no sweep, there are no rows.
    """
    operations, stimuli = series.run.operations, series.run.interrupts
    if series.run.manifest.swept:
        operations = operations.filter("measured").sort("seq")
        stimuli = stimuli.filter(~pl.col("control")).sort("sample")
    if not series.run.manifest.swept or operations.height != stimuli.height:
        operations, stimuli = operations.clear(), stimuli.clear()
    both = pl.concat([stimuli, operations.select("seq", "label", "start_sample")], how="horizontal")
    phase = (pl.col("sample") - pl.col("start_sample")) * series.run.manifest.resolution_ns
    phased = both.with_columns(phase_ns=phase.round(1))
    return phased.drop_nulls(["phase_ns", "isr_latency_ns"]).sort("phase_ns")


_KERNEL_CALLS = [CALLS.index(name) for name in KERNEL_CALLS]
_BAR_PX = 26


def masking_by_call(series: Members) -> Chart | None:
    """A bar per call and run. None without a sweep of the kernel's calls."""
    tables = [(member, worst) for member in series if len(worst := worst_by_call(member))]
    if not tables:
        return None
    figure = go.Figure()
    for member, worst in tables:
        figure.add_bar(
            x=in_us(worst["isr_latency_ns"].round(1)),
            y=worst["label"].fill_null("no label").to_list(),
            orientation="h",
            name=member.label,
            marker_color=member.style.colour,
            text=[short(value, "ns") for value in worst["isr_latency_ns"]],
            textposition="outside",
            cliponaxis=False,
            meta=meta(member, rows=len(worst)),
            customdata=operation_keys(worst["seq"]),
            hovertemplate=f"%{{y}}: worst {X_US}<br>operation %{{customdata}}",
        )
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group", meta={"around_px": 110, "row_px": _BAR_PX})
    explanation = (
        "Stimuli met each call at phases all through it; a bar is the worst answer. The calls allocate and "
        "free are the heap's. The others are FreeRTOS's own, whose critical sections mask the same "
        "interrupts. heap_stats is both: the kernel calls the heap, which walks past every block under its "
        "lock. "
    ) + caveats([member for member, _ in tables])
    counted = per_series([int(worst["n"].sum()) for _, worst in tables], "swept stimuli")
    height = 110 + _BAR_PX * sum(len(worst) for _, worst in tables)
    shown, across = [member for member, _ in tables], "worst latency, stimulus to handler (µs)"
    return make_chart("calls", "Who masks for how long", shown, counted, explanation, figure, height, across)


def worst_by_call(series: Series) -> pl.DataFrame:
    """For each label, in order of appearance, the stimulus that waited longest, and `n`, of how
    many.

    No rows without a sweep of calls.
    """
    table, calls = by_phase(series), series.run.operations.filter(kind="K")
    if not calls["size"].is_in(_KERNEL_CALLS).any():
        table = table.clear()
    order = table.group_by("label").agg(pl.col("seq").min().alias("first"), n=pl.len()).sort("first")
    worst = table.sort("isr_latency_ns", descending=True, maintain_order=True).unique("label", keep="first")
    return order.join(worst, on="label", nulls_equal=True, maintain_order="left")
