"""Worst interrupt latency against depth: whose tail grows."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl

from dashboards.caveats import CONTROL
from dashboards.figures.chart import Chart, make_chart, per_series
from dashboards.figures.depth_bands import at_depth, bands, worst_by_depth, worst_per_band
from dashboards.loaded.lock_effects import caveats
from dashboards.loaded.palette import MEANT_DOT
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import shared_switch

COLUMN = "isr_latency_ns"


def latency_by_depth(series: Sequence[Series]) -> Chart | None:
    """The worst STIM→ISR and CTRL→CISR of each band of depths. None without depths."""
    tables = [at_depth(one, one.run.answered) for one in series]
    if (drawn := worst_by_depth(series, tables, COLUMN, "latency (ns)")) is None:
        return None
    figure, width = drawn
    controls = [
        (one, worst_per_band(at_depth(one, one.run.answered_control), width, COLUMN)) for one in series
    ]
    controls = [(one, worst) for one, worst in controls if len(worst)]
    for one, worst in controls:
        figure.add_trace(_control(one, worst, width))
    counted = per_series(
        series, [len(table) for table in tables], "interrupts during operations with a depth"
    )
    explanation = (
        "Points are single interrupts that fell into an operation of that depth; the line is the worst of "
        "each band. A dip means that no stimulus came early in a search, not that the search was shorter. "
        f"{CONTROL} It shows that the rise is the allocator's. "
    ) + caveats(series)
    return make_chart(
        "depth", "Interrupt latency against depth", series, counted, explanation, figure, height=460
    )


def _control(one: Series, worst: pl.DataFrame, width: int) -> go.Scatter:
    """Thin and with open markers; one switch for all runs."""
    marker = {"color": one.style.colour, "size": 8, "symbol": f"{one.style.symbol}-open"}
    thin = {"color": one.style.colour, "width": 1, "dash": MEANT_DOT}
    switch = {"name": "control interrupt", "legendgroup": "control", "meta": shared_switch(one)}
    return bands(one, worst, width, COLUMN).update({"marker": marker, "line": thin} | switch)
