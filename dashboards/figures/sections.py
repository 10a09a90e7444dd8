"""Figures of critical sections: against depth, probes and size, how often so long, and by two
witnesses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from base.metrology.summaries import CONFIDENCE, MYRIAD, PERCENTILES
from base.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.caveats import NO_BOUND
from dashboards.figures.chart import (
    WHOLE,
    Chart,
    beside,
    entry,
    in_us,
    line,
    make_chart,
    meta,
    per_series,
    points,
    with_maximum,
)
from dashboards.figures.figure import Figure, scatter
from dashboards.formatting import grouped
from dashboards.loaded.quantities import bound_of, by_size, counted, means
from dashboards.loaded.runs import LoadedRun, confidence_words
from dashboards.loaded.series import INK, MEANT_DASH, MEANT_DOT, MUTED, Series
from dashboards.waveforms import interrupt_keys, operation_keys

_RAMP = (
    ("wire_critical_ns", "critical section on the wire (µs)", "ns"),
    ("dwt_cycles", "critical section by DWT (cycles)", "cycles"),
    ("probes", "free-list probes", "probes"),
)
"""Columns of the plots of a ramp, with the words and the unit of each. Axes have times in µs."""


def ramp(series: Sequence[Series]) -> Chart | None:
    """Wire, DWT and probes of every measured allocation against depth. None without depths."""
    names = ("seq", "depth", *(column for column, _, _ in _RAMP))
    tables = [
        member.run.measured_allocations.select(names).drop_nulls("depth").sort("depth", "seq")
        for member in series
    ]
    if not any(len(table) for table in tables):
        return None
    figure = Figure.of_plots(len(_RAMP), spacing=0.045)
    for plot, (column, axis, unit) in enumerate(_RAMP):
        legend, ns = plot == 0, {"ns": "y"} if unit == "ns" else {}
        value_words = WHOLE if ns else f"%{{y:,.6~g}} {unit}"
        figure.update_yaxes(title_text=axis, rangemode="tozero", plot=plot)
        bounds = []
        for member, table in zip(series, tables, strict=True):
            valid = table.drop_nulls(column)
            every = scatter(
                x=valid["depth"].to_numpy(),
                y=in_us(valid[column]) if ns else valid[column].to_numpy(),
                mode="markers",
                marker=points(member, size=4, opacity=0.4),
                meta=meta(member, **ns),
                customdata=operation_keys(valid["seq"]),
                hovertemplate=f"depth %{{x}}: {value_words}<br>operation %{{customdata}}",
                **beside(member, "trials"),
            )
            looks: dict[str, dict[str, object]] = {
                "max": {
                    "name": with_maximum(member, valid[column].max(), unit) if legend else member.label,
                    "line": line(member),
                    "legendgroup": member.run.id,
                    "meta": meta(member, **ns),
                },
                # As the article author's example program prints it. It hides what a deadline must
                # survive.
                "min": {
                    "name": "minimum of trials",
                    "line": line(member, 1, MEANT_DOT),
                    "legendgroup": "minimum",
                    "visible": "legendonly",
                    "meta": meta(member, shared=True, **ns),
                },
            }
            figure.add(every, plot=plot)
            for statistic, look in looks.items():
                descending = [False, statistic == "max"]
                ordered = valid.sort("depth", column, descending=descending, maintain_order=True)
                of_depth = ordered.unique("depth", keep="first", maintain_order=True)
                drawn = scatter(
                    x=of_depth["depth"].to_numpy(),
                    y=in_us(of_depth[column]) if ns else of_depth[column].to_numpy(),
                    mode="lines",
                    customdata=operation_keys(of_depth["seq"]),
                    hovertemplate=f"{statistic} at depth %{{x}}: {value_words}<br>operation %{{customdata}}",
                    showlegend=legend,
                    **look,
                )
                figure.add(drawn, plot=plot)
            bound = bound_of(member.run, "allocate")
            # One that grows with the region would dwarf all else.
            if bound and not bound.region_decided and unit != "probes" and len(table):
                value = bound.ns / 1000 if ns else bound.cycles
                bounds.append(
                    scatter(
                        x=[0, int(table["depth"].max())],  # type: ignore[arg-type]
                        y=[value, value],
                        mode="lines",
                        line=line(member, 1.2, MEANT_DASH),
                        meta=entry(member, **ns),
                        hovertemplate=f"bound {value_words}",
                        **beside(member, "bound"),
                    )
                )
        figure.add(*bounds, plot=plot)
    figure.update_xaxes(rangemode="tozero")
    figure.update_xaxes(title_text="depth (free blocks that do not fit)", plot=len(_RAMP) - 1)
    explanation = (
        "Points are single trials, the line is the worst of each depth. The legend can show the minimum of "
        "the trials too, which hides what a deadline must survive. A dashed line is the bound of a section "
        "that does not grow with the region: no heap can make it longer, interrupts apart."
    )
    count = per_series(series, [len(table) for table in tables], "measured allocations")
    return make_chart("ramp", "Cost against depth", series, count, explanation, figure, height=860)


def cycles_by_probes(series: Sequence[Series]) -> Chart | None:
    """DWT cycles of every measured allocation against its probes.

    None where no probes were counted, and for a ramp, whose own figure says it better.
    """
    tables = counted(series)
    if tables is None:
        return None
    figure = Figure()
    for rank, (member, table) in enumerate(zip(series, tables, strict=True)):
        if table.is_empty():
            continue
        # To the right of a probe count, so that none covers another.
        shift = (rank - (len(series) - 1) / 2) * min(0.18, 0.6 / len(series))
        ordered = table.sort("probes", "dwt_cycles", descending=[False, True], maintain_order=True)
        worst = ordered.unique("probes", keep="first", maintain_order=True)
        mean = means(member.run)
        figure.add(
            scatter(
                x=table["probes"].to_numpy() + shift,
                y=table["dwt_cycles"].to_numpy(),
                mode="markers",
                marker=points(member, size=6, opacity=0.45),
                name=with_maximum(member, table["dwt_cycles"].max(), "cycles"),
                legendgroup=member.run.id,
                meta=meta(member),
                customdata=operation_keys(table["seq"]),
                hovertemplate="%{y:,} cycles<br>operation %{customdata}",
            ),
            scatter(
                x=worst["probes"].to_numpy() + shift,
                y=worst["dwt_cycles"].to_numpy(),
                mode="lines",
                line=line(member, width=1.5),
                meta=meta(member),
                customdata=operation_keys(worst["seq"]),
                text=[grouped(probes) for probes in worst["probes"]],
                hovertemplate="max of %{text} probes: %{y:,} cycles<br>operation %{customdata}",
                **beside(member, "max"),
            ),
            # A mean is no single operation, so a click on it leads nowhere.
            scatter(
                x=mean["probes"].to_numpy() + shift,
                y=mean["critical"].to_numpy(),
                mode="markers",
                marker={"symbol": "line-ew-open", "size": 16, "color": INK, "line": {"width": 2}},
                meta=entry(member),
                text=[
                    f"mean of {grouped(n)} with {grouped(probes)} probes"
                    for probes, n in mean.select("probes", "n").iter_rows()
                ],
                hovertemplate="%{text}: %{y:,.1f} cycles",
                **beside(member, "mean"),
            ),
        )
    most = max(int(table["probes"].max() or 0) for table in tables if len(table))  # type: ignore[arg-type]
    # A tick at each whole number while they fit; beyond that Plotly chooses.
    tick = 1 if most <= 20 else None
    figure.update_xaxes(title_text="free-list probes of the allocation", dtick=tick)
    figure.update_yaxes(title_text="critical section by DWT (cycles)", rangemode="tozero")
    how_many = per_series(series, [len(table) for table in tables], "measured allocations")
    explanation = (
        "Points are single allocations, set side by side within a column; the line joins the worst. A dash "
        "is the mean of those that were served."
    )
    return make_chart("probes", "Cycles by probes", series, how_many, explanation, figure, height=460)


def cycles_by_size(series: Sequence[Series]) -> Chart | None:
    """Medians as lines and maxima as points, by size. None for any scenario but `sizes`."""
    tables = [by_size(member.run) for member in series]
    if not any(tables):
        return None
    figure = Figure()
    for member, sizes in zip(series, tables, strict=True):
        for state, width, size in (("fresh", 1, 5), ("fragmented", 3, 9)):
            median = {"mode": "lines", "line": line(member, width=width), "legendgroup": member.run.id}
            looks = {
                "median": {**median, "name": f"{member.label} {state}"},
                "max": {
                    "mode": "markers",
                    "marker": points(member, size=size),
                    **beside(member, f"{state} max"),
                },
            }
            for statistic, look in looks.items():
                figure.add(
                    scatter(
                        x=[each.size for each in sizes],
                        y=[getattr(each, f"{state}_{statistic}") for each in sizes],
                        meta=entry(member),
                        hovertemplate=f"%{{x:,}} bytes, {statistic}: %{{y:,}} cycles",
                        **look,
                    )
                )
    figure.update_xaxes(title_text="size of the block (bytes)", type="log", dtick="D2")
    figure.update_yaxes(title_text="critical section by DWT (cycles)", rangemode="tozero")
    count = per_series(series, [len(member.run.measured_allocations) for member in series], "allocations")
    explanation = "Lines join medians, points are maxima. Thin: a fresh heap; thick: behind fragments."
    return make_chart("sizes", "Cycles by size", series, count, explanation, figure, height=460)


def agreement(series: Series) -> Chart | None:
    """Wire minus DWT of every critical section, with the tolerance. None without any."""
    table = series.run.operations.drop_nulls("disagreement_cycles")
    if table.is_empty():
        return None
    figure = Figure(
        scatter(
            x=table["seq"].to_numpy(),
            y=table["disagreement_cycles"].to_numpy(),
            mode="markers",
            marker=points(series, size=4, opacity=0.5),
            name=series.label,
            meta=meta(series),
            hovertemplate="%{y:+.3f} cycles<br>operation %{x}",
        )
    )
    tolerance = series.run.manifest.agreement.tolerance_cycles
    words = "No tolerance was recorded."
    if tolerance is not None:
        outside = int((table["disagreement_cycles"].abs() > tolerance).sum())
        words = f"{grouped(outside)} of {grouped(len(table))} beyond ±{tolerance:.2f} cycles."
    if tolerance:
        looks = {"fillcolor": MUTED, "opacity": 0.1, "line": {"width": 0}, "layer": "below"}
        place = {"type": "rect", "xref": "x domain", "x0": 0, "x1": 1, "y0": -tolerance, "y1": tolerance}
        figure.update_layout(shapes=[{**place, "yref": "y", **looks}])
        # Room around it shows both edges even where all differences are zero.
        room = scatter(x=[0, 0], y=[-1.2 * tolerance, 1.2 * tolerance], mode="markers", marker={"opacity": 0})
        figure.add({**room, "hoverinfo": "skip", "showlegend": False, "meta": entry(series)})
    figure.update_xaxes(title_text="operation (seq)", rangemode="tozero")
    figure.update_yaxes(title_text="cycles")
    explanation = (
        f"{words} The constant cost of the markers, calibrated on empty sections of the "
        "same run, is removed. The shaded band is the tolerance."
    )
    count, key = f"n = {grouped(len(table))} critical sections", f"agreement-{series.style.entry}"
    chart = make_chart(key, series.name, [series], count, explanation, figure, 240)
    figure.update_layout(showlegend=False)
    return chart


# Room below the least share, so that the mark of a maximum is whole.
ROOM_DECADES = 0.12


def survival(series: Sequence[Series]) -> Chart | None:
    """The share of critical sections, on the wire, that are so long. None without samples."""

    def sections(run: LoadedRun) -> pl.DataFrame:
        measured = run.measured_allocations.drop_nulls("wire_critical_ns")
        values = measured.group_by(ns="wire_critical_ns", maintain_order=True)
        return values.agg(n=pl.len(), key=pl.first("seq").cast(pl.String))

    title, axis = "How often a critical section takes so long", "critical section, on the wire (µs)"
    return _survival("survival", title, axis, "allocations", CRITICAL, series, sections)


def latency_survival(series: Sequence[Series]) -> Chart | None:
    """The share of interrupts that wait so long. None without samples."""

    def waits(run: LoadedRun) -> pl.DataFrame:
        values = run.waits.filter(~pl.col("control")).group_by(ns="isr_latency_ns", maintain_order=True)
        table = values.agg(pl.col("n").sum(), pl.first("sample", "operation_seq"))
        return table.with_columns(key=interrupt_keys(table))

    title, axis = "How often an interrupt waits so long", "interrupt latency, STIM to ISR (µs)"
    return _survival("survival-interrupts", title, axis, "interrupts", LATENCY, series, waits)


def _survival(
    key: str,
    title: str,
    axis: str,
    what: str,
    quantity: Quantity,
    series: Sequence[Series],
    values_of: Callable[[LoadedRun], pl.DataFrame],
) -> Chart | None:
    """Down to the single worst one; `values_of` a run are what differs, in `ns`, each `n` times,
    and the `key` of the first.
    """
    figure, counts, drawn, least = Figure(), [], [], 1.0
    for member in series:
        if member.run.manifest.ramp or (values := values_of(member.run).sort("ns")).is_empty():
            continue
        n, summary = int(values["n"].sum()), member.run.summary(quantity)
        share, value_ns = values["n"].cum_sum(reverse=True).to_numpy() / n, values["ns"].to_numpy()
        intervals = [
            (getattr(summary, name), *ends, 1 - PERCENTILES[name] / MYRIAD)
            for name, ends in member.run.intervals(quantity).items()
        ]
        own, least = {"color": member.style.colour}, min(least, float(share[-1]))
        figure.add(
            scatter(
                x=in_us(value_ns),
                y=share,
                mode="lines+markers",
                marker={"size": 5, "opacity": 0, **own},
                # Between two values the share is that of the larger: first down, then right.
                line={**line(member), "shape": "vh"},
                name=with_maximum(member, value_ns[-1], "ns", summary.at_least),
                legendgroup=member.run.id,
                meta=meta(member, ns="x", curve=True, over={"y": n}),
                customdata=values["key"],
                hovertemplate=f"%{{y:.4~g}} at or above {WHOLE}<br>%{{customdata}}",
            ),
            # A bar across the curve at each percentile: where a repetition would have found it.
            scatter(
                x=in_us([value for value, *_ in intervals]),
                y=[share_above for *_, share_above in intervals],
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": in_us([high - value for value, _, high, _ in intervals]),
                    "arrayminus": in_us([value - low for value, low, *_ in intervals]),
                    "thickness": 1.2,
                    "width": 5,
                    **own,
                },
                mode="markers",
                marker={"size": 3, **own},
                meta=entry(member, ns="x"),
                hovertemplate=f"{WHOLE}<extra></extra>",
                **beside(member, "intervals"),
            ),
            scatter(
                x=in_us(value_ns[-1:]),
                y=share[-1:],
                mode="markers",
                marker={"size": 11, "symbol": member.style.symbol, **own},
                meta=meta(member, ns="x"),
                customdata=values["key"][-1:],
                hovertemplate=f"max {WHOLE}<br>%{{customdata}}",
                **beside(member, "max"),
            ),
        )
        counts.append(n)
        drawn.append(member)
    if not drawn:
        return None
    figure.update_layout(meta={"curves": True, "time": True}, showlegend=False)
    figure.update_xaxes(title_text=axis, type="log", rangemode="tozero")
    figure.update_yaxes(
        title_text="share of samples at or above",
        type="log",
        dtick=1,
        exponentformat="power",
        range=[float(np.log10(least)) - ROOM_DECADES, 0.15],
    )
    # What happens once in so many independent samples is among the fewest of them, at CONFIDENCE.
    once_in = 1.0 / -math.expm1(math.log1p(-CONFIDENCE) / min(counts))
    explanation = (
        f"A curve ends at its largest value; grey ones are not chosen. {NO_BOUND} With n = "
        f"{grouped(min(counts))}, what happens once in {grouped(round(once_in))} or more "
        f"often would have been seen, at {100 * CONFIDENCE:g} %. Bars across a curve are the "
        f"{confidence_words(member.run for member in drawn)} bootstrap intervals of its "
        "percentiles. A ramp has no curve: its depths are chosen, not drawn."
    )
    counted = per_series(drawn, counts, what)
    return make_chart(key, title, series, counted, explanation, figure, height=400)
