"""Figures of critical sections: against depth, probes and size, how often so long, and by two
witnesses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from base.metrology.summaries import CONFIDENCE, MYRIAD, PERCENTILES
from base.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.blocks import Chart
from dashboards.caveats import NO_BOUND
from dashboards.figures.chart import (
    X_US,
    Y_US,
    beside,
    in_us,
    leading,
    line,
    make_chart,
    meta,
    per_series,
    points,
)
from dashboards.formatting import grouped
from dashboards.loaded.runs import LoadedRun, bound_of, by_size, confidence_words
from dashboards.loaded.series import INK, MEANT_DASH, Members
from dashboards.waveforms import interrupt_keys, operation_keys

_RAMP = (
    ("wire_critical_ns", "critical section on the wire (µs)", "ns", Y_US),
    ("dwt_cycles", "critical section by DWT (cycles)", "cycles", "%{y:,} cycles"),
    ("probes", "free-list probes", "probes", "%{y:,} probes"),
)
"""Columns of the plots of a ramp, with the words and the unit of each, and what hovering tells."""


def ramp(series: Members) -> Chart | None:
    """Wire, DWT and probes of every measured allocation against depth. None without depths."""
    tables = [member.run.by_depth.sort("depth", "seq") for member in series]
    if not any(len(table) for table in tables):
        return None
    figure = make_subplots(rows=len(_RAMP), shared_xaxes=True, vertical_spacing=0.045)
    for row, (column, axis, unit, value_words) in enumerate(_RAMP, 1):
        figure.update_yaxes(title_text=axis, row=row)
        per = 1000 if unit == "ns" else 1
        for member, table in zip(series, tables, strict=True):
            valid = table.drop_nulls(column)
            ordered = valid.sort("depth", column, descending=[False, True], maintain_order=True)
            worst = ordered.unique("depth", keep="first", maintain_order=True)
            for part, words, look in (
                (
                    valid,
                    "",
                    {
                        "mode": "markers",
                        "marker": points(member, 4, 0.4),
                        **beside(member, "trials"),
                        "meta": meta(member),
                    },
                ),
                (
                    worst,
                    "max at ",
                    {
                        "mode": "lines",
                        "line": line(member),
                        **leading(member, valid[column].max(), unit),
                        "showlegend": row == 1,
                    },
                ),
            ):
                figure.add_scatter(
                    row=row,
                    col=1,
                    x=part["depth"],
                    y=part[column].to_numpy() / per,
                    customdata=operation_keys(part["seq"]),
                    hovertemplate=f"{words}depth %{{x}}: {value_words}<br>operation %{{customdata}}",
                    **look,
                )
            bound = bound_of(member.run, "allocate")
            # One that grows with the region would dwarf all else.
            if bound and not bound.region_decided and unit != "probes" and len(table):
                value = (bound.ns or 0) / 1000 if unit == "ns" else bound.cycles
                figure.add_scatter(
                    row=row,
                    col=1,
                    x=[0, table["depth"].max()],
                    y=[value, value],
                    mode="lines",
                    line=line(member, 1.2, MEANT_DASH),
                    hovertemplate=f"bound {value_words}",
                    **beside(member, "bound"),
                )
    figure.update_xaxes(title_text="depth (free blocks that do not fit)", row=len(_RAMP))
    explanation = (
        "Points are single trials, the line is the worst of each depth. A dashed line is the bound of a "
        "section that does not grow with the region: no heap can make it longer, interrupts apart."
    )
    count = per_series([len(table) for table in tables], "measured allocations")
    return make_chart("ramp", "Cost against depth", series, count, explanation, figure, height=860)


def cycles_by_probes(series: Members) -> Chart | None:
    """DWT cycles of every measured allocation against its probes.

    None where no probes were counted, and for a ramp, whose own figure says it better.
    """
    tables = [member.run.measured_allocations.drop_nulls("probes") for member in series]
    ramp = any(table["depth"].is_not_null().any() for table in tables)
    if ramp or not any(len(table) for table in tables):
        return None
    figure = go.Figure()
    for rank, (member, table) in enumerate(zip(series, tables, strict=True)):
        # To the right of a probe count, so that none covers another.
        shift = (rank - (len(series) - 1) / 2) * min(0.18, 0.6 / len(series))
        # How many were served with each number of probes, and their mean.
        served = table.filter(kind="A").group_by("probes")
        mean = served.agg(n=pl.len(), cycles=pl.mean("dwt_cycles")).sort("probes")
        figure.add_scatter(
            x=table["probes"] + shift,
            y=table["dwt_cycles"],
            mode="markers",
            marker=points(member, size=6, opacity=0.45),
            **leading(member, table["dwt_cycles"].max(), "cycles"),
            customdata=operation_keys(table["seq"]),
            hovertemplate="%{y:,} cycles<br>operation %{customdata}",
        )
        # A mean is no single operation, so a click on it leads nowhere.
        figure.add_scatter(
            x=mean["probes"] + shift,
            y=mean["cycles"],
            mode="markers",
            marker_symbol="line-ew-open",
            marker_size=16,
            marker_color=INK,
            marker_line={"width": 2},
            customdata=mean.select("probes", "n").rows(),
            hovertemplate="mean of %{customdata[1]:,} with %{customdata[0]:,} probes: %{y:,.1f} cycles",
            **beside(member, "mean"),
        )
    figure.update_xaxes(rangemode="normal")
    axes = "free-list probes of the allocation", "critical section by DWT (cycles)"
    how_many = per_series([len(table) for table in tables], "measured allocations")
    explanation = (
        "Points are single allocations, set side by side within a column. A dash is the mean of those that "
        "were served."
    )
    return make_chart("probes", "Cycles by probes", series, how_many, explanation, figure, 460, *axes)


def cycles_by_size(series: Members) -> Chart | None:
    """Medians as lines and maxima as points, by size. None for any scenario but `sizes`."""
    tables = [by_size(member.run) for member in series]
    if not any(len(table) for table in tables):
        return None
    figure = go.Figure()
    for member, sizes in zip(series, tables, strict=True):
        for state, suffix, width, size in (("fresh", "", 1, 5), ("fragmented", "_fragmented", 3, 9)):
            looks: dict[str, dict[str, Any]] = {
                "median": {
                    "mode": "lines",
                    "line": line(member, width=width),
                    **beside(member, state),
                    "showlegend": True,
                },
                "max": {
                    "mode": "markers",
                    "marker": points(member, size=size),
                    **beside(member, f"{state} max"),
                },
            }
            for statistic, look in looks.items():
                figure.add_scatter(
                    x=sizes["size"],
                    y=sizes[statistic + suffix],
                    hovertemplate=f"%{{x:,}} bytes, {statistic}: %{{y:,}} cycles",
                    **look,
                )
    figure.update_xaxes(type="log", dtick="D2")
    axes = "size of the block (bytes)", "critical section by DWT (cycles)"
    count = per_series([len(member.run.measured_allocations) for member in series], "allocations")
    explanation = "Lines join medians, points are maxima. Thin: a fresh heap; thick: behind fragments."
    return make_chart("sizes", "Cycles by size", series, count, explanation, figure, 460, *axes)


def agreement(series: Members) -> Chart | None:
    """Wire minus DWT of every critical section, and the tolerance. None without any."""
    tables = [member.run.operations.drop_nulls("disagreement_cycles") for member in series]
    if not any(len(table) for table in tables):
        return None
    figure = go.Figure()
    for member, table in zip(series, tables, strict=True):
        figure.add_scatter(
            x=table["seq"],
            y=table["disagreement_cycles"],
            mode="markers",
            marker=points(member, size=4, opacity=0.5),
            name=member.label,
            meta=meta(member),
            hovertemplate="%{y:+.3f} cycles<br>operation %{x}",
        )
        if tolerance := member.run.manifest.agreement.tolerance_cycles:
            ends = [0, table["seq"].max()]
            figure.add_scatter(
                x=[*ends, None, *ends],
                y=[tolerance, tolerance, None, -tolerance, -tolerance],
                mode="lines",
                line=line(member, 1, MEANT_DASH),
                hovertemplate="tolerance %{y:+.2f} cycles",
                **beside(member, "tolerance"),
            )
    axes = "operation (seq)", "wire minus DWT (cycles)"
    explanation = (
        "The constant cost of the markers, calibrated on empty sections of the same run, is removed. Dashed "
        "lines are the tolerance: a run with points beyond it is inconclusive."
    )
    count = per_series([len(table) for table in tables], "critical sections")
    return make_chart("agreement", "Wire minus DWT", series, count, explanation, figure, 400, *axes)


# Room below the least share, so that the mark of a maximum is whole.
ROOM_DECADES = 0.12


def survival(series: Members) -> Chart | None:
    """The share of critical sections, on the wire, that are so long. None without samples."""

    def sections(run: LoadedRun) -> pl.DataFrame:
        measured = run.measured_allocations.drop_nulls("wire_critical_ns")
        values = measured.group_by(ns="wire_critical_ns", maintain_order=True)
        return values.agg(n=pl.len(), key=pl.first("seq").cast(pl.String))

    title, axis = "How often a critical section takes so long", "critical section, on the wire (µs)"
    return _survival("survival", title, axis, "allocations", CRITICAL, series, sections)


def latency_survival(series: Members) -> Chart | None:
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
    series: Members,
    values_of: Callable[[LoadedRun], pl.DataFrame],
) -> Chart | None:
    """Down to the single worst one; `values_of` a run are what differs, in `ns`, each `n` times,
    and the `key` of the first.
    """
    figure, counts, drawn, least = go.Figure(), [], [], 1.0
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
        figure.add_scatter(
            x=in_us(value_ns),
            y=share,
            mode="lines+markers",
            # The marks are to be pointed at; that of the maximum is seen.
            marker={
                **points(member, 1, 1),
                "size": np.where(value_ns < value_ns[-1], 1, 11),
                "line": {"width": 0},
            },
            # Between two values the share is that of the larger: first down, then right.
            line={**line(member), "shape": "vh"},
            **leading(member, value_ns[-1], "ns", summary.at_least),
            customdata=values["key"],
            hovertemplate=f"%{{y:.4~g}} at or above {X_US}<br>%{{customdata}}",
        )
        # A bar across the curve at each percentile: where a repetition would have found it.
        figure.add_scatter(
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
            hovertemplate=f"{X_US}<extra></extra>",
            **beside(member, "intervals"),
        )
        counts.append(n)
        drawn.append(member)
    if not drawn:
        return None
    figure.update_layout(showlegend=True, margin_t=40)
    figure.update_xaxes(type="log")
    figure.update_yaxes(
        type="log",
        dtick=1,
        exponentformat="power",
        range=[float(np.log10(least)) - ROOM_DECADES, 0.15],
    )
    # What happens once in so many independent samples is among the fewest of them, at CONFIDENCE.
    once_in = 1.0 / -math.expm1(math.log1p(-CONFIDENCE) / min(counts))
    explanation = (
        f"A curve ends at its largest value. {NO_BOUND} With n = {grouped(min(counts))}, what happens once "
        f"in {grouped(round(once_in))} or more often would have been seen, at {100 * CONFIDENCE:g} %. Bars "
        f"across a curve are the {confidence_words(member.run for member in drawn)} bootstrap intervals of "
        "its percentiles. A ramp has no curve: its depths are chosen, not drawn."
    )
    up, counted_of = "share of samples at or above", per_series(counts, what)
    return make_chart(key, title, series, counted_of, explanation, figure, 400, axis, up)
