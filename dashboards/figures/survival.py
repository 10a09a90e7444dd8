"""Survival curves: the share of samples at or above each value, down to the single worst one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from base.metrology.summaries import CONFIDENCE, MYRIAD, PERCENTILES
from base.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.caveats import NO_BOUND
from dashboards.figures.chart import (
    WHOLE,
    Chart,
    in_us,
    line,
    make_chart,
    per_series,
    timed,
    with_maximum,
)
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.formatting import grouped
from dashboards.loaded.certainty import confidence_words
from dashboards.loaded.series import Series
from dashboards.waveforms import entry, interrupt_keys, meta, operation_keys

# Room below the least share, so that the mark of a maximum is whole.
ROOM_DECADES = 0.12


@dataclass(frozen=True)
class Panel:
    """A figure: `what` its samples are, of `quantity`."""

    key: str
    title: str
    what: str
    quantity: Quantity


@dataclass(frozen=True)
class Curve:
    """A curve: `share[i]` of `n` samples are at least `value_ns[i]`; `key[i]` names the first."""

    n: int
    value_ns: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]
    key: pl.Series


def survival(series: Sequence[Series]) -> Chart | None:
    """The share of critical sections, on the wire, that are so long. None without samples."""
    panel = Panel("survival", "How often a critical section takes so long", "allocations", CRITICAL)
    return _survival(panel, "critical section, on the wire (µs)", series, critical_curve)


def latency_survival(series: Sequence[Series]) -> Chart | None:
    """The share of interrupts that wait so long. None without samples."""
    panel = Panel("survival-interrupts", "How often an interrupt waits so long", "interrupts", LATENCY)
    return _survival(panel, "interrupt latency, STIM to ISR (µs)", series, latency_curve)


def _survival(
    panel: Panel, axis: str, series: Sequence[Series], curve_of: Callable[[Series], Curve]
) -> Chart | None:
    curves = [(member, curve_of(member)) for member in series if not member.run.manifest.ramp]
    drawn = [(member, curve) for member, curve in curves if curve.n]
    if not drawn:
        return None
    figure = Figure()
    for one, curve in drawn:
        figure.add(_steps(one, curve, panel.quantity), _intervals(one, panel.quantity), _maximum(one, curve))
    figure.update_layout(meta={"curves": True, "time": True}, showlegend=False)
    least = float(np.log10(min(curve.share[-1] for _, curve in drawn)))
    figure.update_xaxes(title_text=axis, type="log", rangemode="tozero")
    figure.update_yaxes(
        title_text="share of samples at or above",
        type="log",
        dtick=1,
        exponentformat="power",
        range=[least - ROOM_DECADES, 0.15],
    )
    counts = [curve.n for _, curve in drawn]
    counted = per_series([member for member, _ in drawn], counts, panel.what)
    explanation = (
        f"A curve ends at its largest value; grey ones are not chosen. {NO_BOUND} With n = "
        f"{grouped(min(counts))}, what happens once in {grouped(round(seen_once_in(min(counts))))} or more "
        f"often would have been seen, at {100 * CONFIDENCE:g} %. Bars across a curve are the "
        f"{confidence_words(member.run.certainty for member, _ in drawn)} bootstrap intervals of its "
        "percentiles. A ramp has no curve: its depths are chosen, not drawn."
    )
    return make_chart(panel.key, panel.title, series, counted, explanation, figure, height=400)


def seen_once_in(n: int) -> float:
    """What happens once in so many independent samples is among `n` of them, at CONFIDENCE."""
    return 1.0 / -math.expm1(math.log1p(-CONFIDENCE) / n)


def critical_curve(series: Series) -> Curve:
    measured = series.run.measured_allocations.drop_nulls("wire_critical_ns")
    values = measured.group_by(ns="wire_critical_ns", maintain_order=True).agg(
        n=pl.len(), seq=pl.first("seq")
    )
    return _curve(values, lambda rows: operation_keys(rows["seq"]))


def latency_curve(series: Series) -> Curve:
    waits = series.run.waits.filter(~pl.col("control"))
    values = waits.group_by(ns="isr_latency_ns", maintain_order=True).agg(
        pl.col("n").sum(), pl.first("sample", "operation_seq")
    )
    return _curve(values, lambda rows: interrupt_keys(rows["sample"], rows["operation_seq"]))


def _curve(values: pl.DataFrame, keys: Callable[[pl.DataFrame], pl.Series]) -> Curve:
    """Of `values` that differ, in `ns`, each `n` times."""
    values = values.sort("ns")
    at_or_above = values["n"].cum_sum(reverse=True).to_numpy()
    n = int(values["n"].sum())
    return Curve(n, values["ns"].to_numpy(), at_or_above / max(n, 1), keys(values))


def _steps(series: Series, curve: Curve, quantity: Quantity) -> Trace:
    return scatter(
        x=in_us(curve.value_ns),
        y=curve.share,
        mode="lines+markers",
        marker={"size": 5, "opacity": 0, "color": series.style.colour},
        # Between two values that occurred, the share is that of the larger: first down, then right.
        line={**line(series), "shape": "vh"},
        name=with_maximum(series, curve.value_ns[-1], "ns", series.run.summary(quantity).at_least),
        legendgroup=series.run.id,
        meta={**timed(meta(series), "x"), "curve": True, "over": {"y": curve.n}},
        customdata=curve.key,
        hovertemplate=f"%{{y:.4~g}} at or above {WHOLE}<br>%{{customdata}}",
    )


def _intervals(series: Series, quantity: Quantity) -> Trace:
    """A bar across the curve at each percentile: where a repetition would have found it."""
    summary = series.run.summary(quantity)
    intervals = series.run.certainty.intervals.get(quantity.key, {})
    bounds = [(getattr(summary, name), *ends, name) for name, ends in intervals.items()]
    return scatter(
        x=in_us([value for value, _, _, _ in bounds]),
        y=[1 - PERCENTILES[name] / MYRIAD for _, _, _, name in bounds],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": in_us([high - value for value, _, high, _ in bounds]),
            "arrayminus": in_us([value - low for value, low, _, _ in bounds]),
            "color": series.style.colour,
            "thickness": 1.2,
            "width": 5,
        },
        mode="markers",
        marker={"size": 3, "color": series.style.colour},
        name=f"{series.label} intervals",
        legendgroup=series.run.id,
        showlegend=False,
        meta=timed(entry(series), "x"),
        hovertemplate=f"{WHOLE}<extra></extra>",
    )


def _maximum(series: Series, curve: Curve) -> Trace:
    return scatter(
        x=in_us(curve.value_ns[-1:]),
        y=curve.share[-1:],
        mode="markers",
        marker={"size": 11, "symbol": series.style.symbol, "color": series.style.colour},
        name=f"{series.label} max",
        legendgroup=series.run.id,
        showlegend=False,
        meta=timed(meta(series), "x"),
        customdata=curve.key[-1:],
        hovertemplate=f"max {WHOLE}<br>%{{customdata}}",
    )
