"""The worst interrupt against the heap used: which allocator pays for a short tail with memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import plotly.graph_objects as go

from base.run_folder.quantities import LATENCY
from dashboards.figures.chart import Chart, make_chart
from dashboards.loaded.palette import MUTED
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import meta, worst_key

T = TypeVar("T")


def frontier(found: Iterable[T], of: Callable[[T], tuple[float, float]]) -> list[T]:
    """Those that no other beats in both numbers of `of`, ordered by the first."""
    best: list[T] = []
    for one in sorted(found, key=of):
        if not best or of(one)[1] < of(best[-1])[1]:
            best.append(one)
    return best


def heap_against_worst(series: Sequence[Series]) -> Chart | None:
    """A point for each run. None where no run tells its heap."""
    told = [one for one in series if _place(one) is not None]
    if not told:
        return None
    best = frontier(told, lambda one: _place(one) or (0.0, 0.0))
    figure = go.Figure([_steps(best), _every(told), *(_point(one) for one in told)])
    figure.update_xaxes(title_text="heap used (bytes)")
    figure.update_yaxes(title_text="worst interrupt (ns)", rangemode="tozero")
    names = ", ".join(one.name for one in best)
    explanation = f"The dotted line joins the runs that no other beats in both: {names}."
    counted = f"n = {len(told)} runs"
    title = "Worst interrupt against heap"
    return make_chart("tradeoff", title, told, counted, explanation, figure, height=460)


def _place(one: Series) -> tuple[float, float] | None:
    """Heap used in bytes, and the worst interrupt in ns."""
    memory, worst = one.run.manifest.memory, one.run.summary(LATENCY).max
    return (
        None if memory is None or memory.used_bytes is None or worst is None else (memory.used_bytes, worst)
    )


def _steps(best: Sequence[Series]) -> go.Scatter:
    places = [_place(one) or (0.0, 0.0) for one in best]
    return go.Scatter(
        x=[heap for heap, _ in places],
        y=[worst for _, worst in places],
        mode="lines",
        line={"color": MUTED, "dash": "dot", "width": 1.5, "shape": "hv"},
        name="no other beats these in both",
        hoverinfo="skip",
    )


def _every(told: Sequence[Series]) -> go.Scatter:
    """Small and grey under the chosen ones, so that those have something to stand beside."""
    places = [_place(one) or (0.0, 0.0) for one in told]
    return go.Scatter(
        x=[heap for heap, _ in places],
        y=[worst for _, worst in places],
        mode="markers",
        marker={"size": 6, "color": MUTED, "opacity": 0.6},
        name="all runs",
        text=[one.label for one in told],
        hovertemplate="%{text}<br>heap %{x:,} bytes, worst interrupt %{y:,.6~g} ns<extra></extra>",
    )


def _point(one: Series) -> go.Scatter:
    heap, worst = _place(one) or (0.0, 0.0)
    return go.Scatter(
        x=[heap],
        y=[worst],
        mode="markers",
        marker={"size": 11, "color": one.style.colour, "symbol": one.style.symbol},
        name=one.label,
        meta=meta(one),
        customdata=[worst_key(one.run, LATENCY)],
        hovertemplate="heap %{x:,} bytes, worst interrupt %{y:,.6~g} ns",
    )
