"""The heap's masking beside the kernel's: the worst latency of an interrupt that met each call."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl

from dashboards.figures.chart import Chart, make_chart, per_series, row_heights
from dashboards.figures.latency_by_phase import by_phase
from dashboards.loaded.lock_effects import caveats
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import meta, operation_keys
from scenarios.operations import CALLS

_EMPTY_CALL = CALLS.index("empty")
ROW_PIXELS = 26


def masking_by_call(series: Sequence[Series]) -> Chart | None:
    """A bar per call and run. None without a sweep of the kernel's calls."""
    swept = [(one, table) for one in series if len(table := _swept_calls(one))]
    if not swept:
        return None
    worst = [(one, worst_by_label(table)) for one, table in swept]
    figure = go.Figure([_bars(one, table) for one, table in worst])
    figure.update_xaxes(title_text="worst latency, stimulus to handler (ns)", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group")
    shown = [one for one, _ in swept]
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


def worst_by_call(one: Series) -> pl.DataFrame:
    """Of each call the stimulus that waited longest. No rows without a sweep of calls."""
    return worst_by_label(_swept_calls(one))


def _swept_calls(one: Series) -> pl.DataFrame:
    table = by_phase(one)
    return table if one.run.manifest.swept and _calls_kernel(one) else table.clear()


def _calls_kernel(one: Series) -> bool:
    calls = one.run.operations.filter(pl.col("kind") == "K")
    return bool((calls["size"] != _EMPTY_CALL).any())


def worst_by_label(table: pl.DataFrame) -> pl.DataFrame:
    """Of each label, in order of appearance in the run, the stimulus that waited longest."""
    order = table.group_by("label").agg(pl.col("seq").min().alias("first")).sort("first")
    worst = table.sort("isr_latency_ns", descending=True, maintain_order=True).unique("label", keep="first")
    return order.join(worst, on="label", nulls_equal=True, maintain_order="left")


def _bars(one: Series, worst: pl.DataFrame) -> go.Bar:
    return go.Bar(
        x=worst["isr_latency_ns"].round(1).to_numpy(),
        y=worst["label"].fill_null("no label").to_list(),
        orientation="h",
        name=one.label,
        marker={"color": one.style.colour},
        text=[f"{value:,.0f}" for value in worst["isr_latency_ns"]],
        textposition="outside",
        cliponaxis=False,
        meta={**meta(one), "rows": len(worst)},
        customdata=operation_keys(worst["seq"]),
        hovertemplate="%{y}: worst %{x:,.6~g} ns<br>operation %{customdata}",
    )
