"""Survival curves: the share of samples at or above each value, down to the single worst one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from analysis.metrology.quantiles import MYRIAD, PERCENTILES
from capture.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.chart import Chart, line, make_chart, per_series
from dashboards.formatting import quantity as number
from dashboards.selection import describe, interrupt_keys, meta, operation_keys
from dashboards.series import Series

# Height of one line of the labels under the curves.
LABEL_DECADES = 0.45


@dataclass(frozen=True)
class Curve:
    """`share[i]` of all `n` samples are at or above `value_ns[i]`, `key[i]` names the first equal to it."""

    n: int
    value_ns: list[float]
    share: list[float]
    key: list[str]


def survival(series: Sequence[Series]) -> Chart | None:
    """P(X ≥ x) of the critical section and of the interrupt latency. None without samples."""
    panels = [
        (CRITICAL, "critical section, on the wire (ns)", [critical_curve(one) for one in series]),
        (LATENCY, "interrupt latency, STIM to ISR (ns)", [latency_curve(one) for one in series]),
    ]
    panels = [panel for panel in panels if any(curve.n for curve in panel[2])]
    if not panels:
        return None
    figure = make_subplots(rows=len(panels), cols=1, vertical_spacing=0.17)
    for row, (quantity, axis, curves) in enumerate(panels, start=1):
        _draw(figure, row, series, curves)
        figure.add_traces([_intervals(one, quantity) for one in series], rows=row, cols=1)
        largest = max(curve.value_ns[-1] for curve in curves if curve.n)
        figure.update_xaxes(title_text=axis, range=[0, largest * 1.05], row=row, col=1)
        figure.update_yaxes(
            title_text="P(X ≥ x)", type="log", dtick=1, exponentformat="power", row=row, col=1
        )
    counted = " · ".join(
        per_series(series, [curve.n for curve in curves], what)
        for (_, _, curves), what in zip(panels, ("allocations", "interrupts"), strict=False)
    )
    explanation = (
        "Linear time, logarithmic share. A curve ends at the largest value that was seen, which is the "
        "number that counts and no bound: with n samples nothing is known below a share of 1/n. Bars across "
        "a curve are the 95 % bootstrap intervals of its percentiles; a ramp has none."
    )
    return make_chart("survival", "Survival", series, counted, explanation, figure, height=380 * len(panels))


def critical_curve(one: Series) -> Curve:
    table = one.run.measured_allocations.drop_nulls("wire_critical_ns")
    return _curve(table, "wire_critical_ns", operation_keys(table["seq"]))


def latency_curve(one: Series) -> Curve:
    table = one.run.answered
    return _curve(table, "isr_latency_ns", interrupt_keys(table["sample"], table["operation_seq"]))


def _curve(table: pl.DataFrame, column: str, keys: list[str]) -> Curve:
    values = table[column].to_numpy()
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    at_or_above = len(values) - np.concatenate(([0], np.cumsum(counts)))[:-1]
    share = at_or_above / max(len(values), 1)
    return Curve(len(values), distinct.tolist(), share.tolist(), [keys[i] for i in first])


def _draw(figure: go.Figure, row: int, series: Sequence[Series], curves: Sequence[Curve]) -> None:
    x_max = max(curve.value_ns[-1] for curve in curves if curve.n)
    drawn = [(one, curve) for one, curve in zip(series, curves, strict=True) if curve.n]
    least = float(np.log10(min(curve.share[-1] for _, curve in drawn)))
    figure.update_yaxes(range=[least - LABEL_DECADES * (len(drawn) + 0.8), 0.15], row=row, col=1)
    for rank, (one, curve) in enumerate(drawn):
        figure.add_trace(_steps(one, curve, legend=row == 1), row=row, col=1)
        figure.add_trace(_maximum(one, curve), row=row, col=1)
        # Below all curves; on a logarithmic axis places are powers of ten.
        place = least - LABEL_DECADES * (rank + 1)
        label = _label(one, curve, curve.value_ns[-1] > x_max / 2)
        figure.add_annotation(**label, ayref=f"y{row}", ay=place, row=row, col=1)


def _steps(one: Series, curve: Curve, legend: bool) -> go.Scatter:
    return go.Scatter(
        x=curve.value_ns,
        y=curve.share,
        mode="lines+markers",
        marker={"size": 5, "opacity": 0, "color": one.style.colour},
        # Between two values that occurred the share is that of the larger one: first down, then right.
        line={**line(one), "shape": "vh"},
        name=one.label,
        legendgroup=one.run.id,
        showlegend=legend,
        meta=meta(one),
        customdata=curve.key,
        hovertemplate="%{y:.4~g} at or above %{x:,.6~g} ns<br>%{customdata}",
    )


def _intervals(one: Series, quantity: Quantity) -> go.Scatter:
    """A bar across the curve at each percentile: where a repetition would have found it."""
    summary = one.run.summary(quantity)
    intervals = one.run.certainty.intervals.get(quantity.key, {})
    found = [(getattr(summary, name), *ends, name) for name, ends in intervals.items()]
    return go.Scatter(
        x=[value for value, _, _, _ in found],
        y=[1 - PERCENTILES[name] / MYRIAD for _, _, _, name in found],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - value for value, _, high, _ in found],
            "arrayminus": [value - low for value, low, _, _ in found],
            "color": one.style.colour,
            "thickness": 1.2,
            "width": 5,
        },
        mode="markers",
        marker={"size": 3, "color": one.style.colour},
        name=f"{one.label} intervals",
        legendgroup=one.run.id,
        showlegend=False,
        hovertemplate="%{x:,.6~g} ns<extra></extra>",
    )


def _maximum(one: Series, curve: Curve) -> go.Scatter:
    return go.Scatter(
        x=curve.value_ns[-1:],
        y=curve.share[-1:],
        mode="markers",
        marker={"size": 11, "symbol": one.style.symbol, "color": one.style.colour},
        name=f"{one.label} max",
        legendgroup=one.run.id,
        showlegend=False,
        meta=meta(one),
        customdata=curve.key[-1:],
        hovertemplate="max %{x:,.6~g} ns<br>%{customdata}",
    )


def _label(one: Series, curve: Curve, on_the_right: bool) -> dict[str, object]:
    """The maximum's value and operation, led to its point from wherever there is room."""
    return {
        "x": curve.value_ns[-1],
        "y": float(np.log10(curve.share[-1])),
        "ax": -10 if on_the_right else 10,
        "text": f"{one.label} max {number(curve.value_ns[-1], 'ns')} ns, {describe(curve.key[-1])}",
        "font": {"color": one.style.colour, "size": 12},
        "arrowhead": 0,
        "arrowwidth": 0.8,
        "arrowcolor": one.style.colour,
        "xanchor": "right" if on_the_right else "left",
    }
