"""When within an operation or a call of the kernel the stimulus came, and how long it waited."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import polars as pl

from base.run_folder.quantities import LATENCY
from dashboards.figures.chart import (
    WHOLE,
    Chart,
    in_us,
    make_chart,
    per_series,
    points,
    row_heights,
    timed,
    with_maximum,
)
from dashboards.figures.figure import Figure, Trace, bar, scatter
from dashboards.formatting import short
from dashboards.loaded.series import MEANT_DOT, Series, caveats, has_control
from dashboards.waveforms import entry, meta, operation_keys, shared_switch
from scenarios.operations import CALLS, KERNEL_CALLS

LINES_APART = 0.02
LINES_MOST = 8
"""More lines would hide the points: a sweep over a ramp has a depth for every few stimuli."""


def latency_by_phase(series: Sequence[Series]) -> Chart | None:
    """Every swept stimulus, and for each curve a line of critical section plus entry.

    None without a sweep.
    """
    swept = [(member, table) for member in series if len(table := by_phase(member))]
    if not swept:
        return None
    figure = Figure()
    for one, table in swept:
        figure.add(_control(one))
        figure.add(_points(one, table))
        for label, bound_ns in _lines(one):
            figure.add(_line(one, label, bound_ns, written=len(swept) == 1))
    latest = max(float(table["phase_ns"][-1]) / 1000 for _, table in swept)
    # A stimulus further left is answered before the operation begins.
    window = {"clipmin": -0.02 * latest}
    title = "stimulus after the beginning of the operation (µs)"
    figure.update_xaxes(title_text=title, autorange=True, autorangeoptions=window)
    figure.update_yaxes(title_text="latency (µs)", rangemode="tozero")
    shown = [series for series, _ in swept]
    control = " or the control interrupt" if any(map(has_control, shown)) else ""
    counted = per_series(shown, [len(table) for _, table in swept], "swept stimuli")
    explanation = (
        "Each operation meets one stimulus, a little later each time. Before the mask is up, the interrupt "
        "is answered at once. Once it is up, the latency jumps to the whole critical section; from there it "
        "falls by one cycle for each cycle that the stimulus comes later. A dotted line is the sum of two "
        "other measurements: the width of the critical section, and what an interrupt waits for beside it, "
        "found with an empty section swept the same way. A curve that just touches its line shows that "
        f"nothing else masks. Points above it met a tick (crosses){control}, which makes the section itself "
        "longer. "
    ) + caveats(shown)
    return make_chart("phase", "Interrupt latency against phase", shown, counted, explanation, figure, 480)


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
    return _with_phase(series, both).drop_nulls(["phase_ns", "isr_latency_ns"]).sort("phase_ns")


def _with_phase(series: Series, table: pl.DataFrame) -> pl.DataFrame:
    sample_ns = series.run.manifest.resolution_ns
    return table.with_columns(phase_ns=((pl.col("sample") - pl.col("start_sample")) * sample_ns).round(1))


def _points(series: Series, table: pl.DataFrame) -> Trace:
    ticked = table["tick"].fill_null(False)
    labels = table["label"].fill_null("no label")
    marker = points(series, size=4, opacity=0.6)
    marker["symbol"] = ["x" if cross else series.style.symbol for cross in ticked]
    return scatter(
        x=in_us(table["phase_ns"]),
        y=in_us(table["isr_latency_ns"].round(1)),
        mode="markers",
        marker=marker,
        name=with_maximum(series, table["isr_latency_ns"].max(), "ns", series.run.summary(LATENCY).at_least),
        legendgroup=series.run.id,
        meta=timed(meta(series)),
        customdata=pl.DataFrame({"key": operation_keys(table["seq"]), "label": labels}),
        hovertemplate=f"%{{customdata[1]}}: %{{x:,.2f}} µs into the operation, latency {WHOLE}<br>"
        "operation %{customdata[0]}",
    )


def _control(series: Series) -> Trace:
    """The control interrupts that fell into a measured operation; one switch for all runs."""
    operations = series.run.operations.filter("measured").select(
        operation_seq="seq", start_sample="start_sample"
    )
    met = series.run.answered_control.join(operations, on="operation_seq", maintain_order="left")
    met = _with_phase(series, met)
    return scatter(
        x=in_us(met["phase_ns"]),
        y=in_us(met["isr_latency_ns"].round(1)),
        mode="markers",
        marker={"color": series.style.colour, "size": 3, "symbol": "circle-open", "opacity": 0.5},
        name="control interrupt",
        legendgroup="control",
        meta=timed(shared_switch(series)),
        customdata=operation_keys(met["operation_seq"]),
        hovertemplate=f"control: %{{x:,.2f}} µs into the operation, latency {WHOLE}<br>"
        "operation %{customdata}",
    )


def _lines(series: Series) -> Sequence[tuple[str, float]]:
    """Labels and bounds in ns. Bounds that nearly coincide share a line, `first to last`."""
    bounds = series.run.manifest.sweep_bounds
    if len(bounds) > LINES_MOST:
        return ()
    apart = LINES_APART * max((bound for _, bound in bounds), default=0)
    lines: list[tuple[str, float]] = []
    for label, bound in bounds:
        if lines and abs(bound - lines[-1][1]) < apart:
            lines[-1] = (f"{lines[-1][0].partition(' to ')[0]} to {label}", lines[-1][1])
        else:
            lines.append((label, bound))
    return lines


def _line(series: Series, label: str, bound_ns: float, written: bool) -> Trace:
    """A line from the operation's start to where the latency has fallen to its least.

    The lines of one run have room for their words; those of several tell when pointed at.
    """
    words = escape(f"{label}: critical section + entry", quote=False)
    return scatter(
        x=in_us([0, bound_ns]),
        y=in_us([bound_ns, bound_ns]),
        mode="lines+text" if written else "lines",
        text=["", words] if written else None,
        textposition="middle right",
        textfont={"size": 11, "color": series.style.colour},
        line={"color": series.style.colour, "width": 1, "dash": MEANT_DOT},
        name=f"{series.label}, {escape(label, quote=False)}",
        legendgroup=series.run.id,
        showlegend=False,
        meta=timed(entry(series)),
        hovertemplate=f"{words}: {WHOLE}",
        cliponaxis=False,
    )


_KERNEL_CALLS = [CALLS.index(name) for name in KERNEL_CALLS]
ROW_PIXELS = 26


def masking_by_call(series: Sequence[Series]) -> Chart | None:
    """A bar per call and run. None without a sweep of the kernel's calls."""
    swept = [(member, table) for member in series if len(table := _swept_calls(member))]
    if not swept:
        return None
    worst = [(series, worst_by_label(table)) for series, table in swept]
    figure = Figure(*(_bars(series, table) for series, table in worst))
    figure.update_xaxes(title_text="worst latency, stimulus to handler (µs)", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group")
    shown = [series for series, _ in swept]
    counted = per_series(shown, [len(table) for _, table in swept], "swept stimuli")
    rows = sum(len(table) for _, table in worst)
    explanation = (
        "Stimuli met each call at phases all through it; a bar is the worst answer. The calls allocate and "
        "free are the heap's. The others are FreeRTOS's own, whose critical sections mask the same "
        "interrupts. heap_stats is both: the kernel calls the heap, which walks past every block under its "
        "lock. "
    ) + caveats(shown)
    title = "Who masks for how long"
    figure.update_layout(meta=row_heights(110, ROW_PIXELS))
    return make_chart("calls", title, shown, counted, explanation, figure, 110 + ROW_PIXELS * rows)


def worst_by_call(series: Series) -> pl.DataFrame:
    """For each call, the stimulus that waited longest. No rows without a sweep of calls."""
    return worst_by_label(_swept_calls(series))


def _swept_calls(series: Series) -> pl.DataFrame:
    table = by_phase(series)
    return table if len(table) and _calls_kernel(series) else table.clear()


def _calls_kernel(series: Series) -> bool:
    calls = series.run.operations.filter(pl.col("kind") == "K")
    return bool(calls["size"].is_in(_KERNEL_CALLS).any())


def worst_by_label(table: pl.DataFrame) -> pl.DataFrame:
    """For each label, in order of appearance, the stimulus that waited longest."""
    order = table.group_by("label").agg(pl.col("seq").min().alias("first")).sort("first")
    worst = table.sort("isr_latency_ns", descending=True, maintain_order=True).unique("label", keep="first")
    return order.join(worst, on="label", nulls_equal=True, maintain_order="left")


def _bars(series: Series, worst: pl.DataFrame) -> Trace:
    return bar(
        x=in_us(worst["isr_latency_ns"].round(1)),
        y=worst["label"].fill_null("no label").to_list(),
        orientation="h",
        name=series.label,
        marker={"color": series.style.colour},
        text=[short(value, "ns") for value in worst["isr_latency_ns"]],
        textposition="outside",
        cliponaxis=False,
        meta={**timed(meta(series), "x"), "rows": len(worst)},
        customdata=operation_keys(worst["seq"]),
        hovertemplate=f"%{{y}}: worst {WHOLE}<br>operation %{{customdata}}",
    )
