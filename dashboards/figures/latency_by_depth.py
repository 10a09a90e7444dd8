"""Worst latencies of interrupt and task against depth: single points, and the worst of a band."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from base.run_folder import tables
from base.run_folder.quantities import LATENCY, TASK
from dashboards.figures.chart import (
    WHOLE,
    Chart,
    in_us,
    line,
    make_chart,
    per_series,
    points,
    timed,
    with_maximum,
)
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import MEANT_DOT, Series, about_control, caveats, spares_interrupts
from dashboards.waveforms import interrupt_keys, meta, shared_switch

BANDS = 16
INTERRUPT_COLUMN, TASK_COLUMN = "isr_latency_ns", "task_latency_ns"


_DRAWN = ("control", "sample", "operation_seq", INTERRUPT_COLUMN, TASK_COLUMN)


def at_depth(run: LoadedRun) -> pl.DataFrame:
    """The answered interrupts of a run that fell into an operation with a depth, and that `depth`.

    Columns: what is drawn of them.
    """
    depths = (
        run.once("operations", "seq", "depth")
        .select(pl.col("seq").alias("operation_seq"), "depth")
        .drop_nulls()
    )
    if depths.is_empty():
        return pl.DataFrame(schema={**{name: tables.INTERRUPTS[name] for name in _DRAWN}, "depth": pl.UInt32})
    answered = run.once("interrupts", *_DRAWN).select(_DRAWN).drop_nulls(INTERRUPT_COLUMN)
    return answered.join(depths, on="operation_seq", how="inner", maintain_order="left")


def worst_by_depth(
    series: Sequence[Series], tables: Sequence[pl.DataFrame], column: str, title: str
) -> tuple[Figure, int] | None:
    """Each series' interrupts (`at_depth`) as points, and a line through the worst of each band.

    Returns the figure and the number of depths in a band; None without depths. `title` is that of
    the latency's axis.
    """
    if not any(len(table) for table in tables):
        return None
    width = _band_width(tables)
    figure = Figure()
    for member, table in zip(series, tables, strict=True):
        figure.add(_single(member, table, column))
        figure.add(_worst_line(member, worst_per_band(table, width, column), width, column))
    figure.update_xaxes(title_text=f"depth (bands of {width})", rangemode="tozero")
    figure.update_yaxes(title_text=title, rangemode="tozero")
    return figure, width


def worst_per_band(table: pl.DataFrame, width: int, column: str) -> pl.DataFrame:
    """The row with the greatest `column` of each band, and their number `n`.

    Band b is depths b·width+1 … (b+1)·width.
    """
    if table.is_empty():
        return table.with_columns(band=pl.lit(0, pl.Int64), n=pl.lit(0, pl.UInt32))
    return (
        table.select("sample", "operation_seq", "depth", column)
        .with_columns(band=(pl.col("depth").cast(pl.Int64) - 1).clip(0) // width)
        .with_columns(n=pl.len().over("band"))
        .sort("band", column, descending=[False, True], maintain_order=True)
        .unique("band", keep="first", maintain_order=True)
    )


def _band_width(tables: Sequence[pl.DataFrame]) -> int:
    """The least number of depths in a band that makes at most BANDS of them."""
    deepest = max(int(table["depth"].max()) for table in tables if len(table))  # type: ignore[arg-type]
    return max(1, -(-deepest // BANDS))


def _single(series: Series, table: pl.DataFrame, column: str) -> Trace:
    return scatter(
        x=table["depth"].to_numpy(),
        y=in_us(table[column]),
        mode="markers",
        marker=points(series, size=4, opacity=0.35),
        name=f"{series.label} single interrupts",
        legendgroup=series.run.id,
        showlegend=False,
        meta=timed(meta(series)),
        customdata=interrupt_keys(table["sample"], table["operation_seq"]),
        hovertemplate=f"depth %{{x}}: {WHOLE}<br>operation %{{customdata}}",
    )


def _worst_line(series: Series, worst: pl.DataFrame, width: int, column: str) -> Trace:
    marker = {"color": series.style.colour, "size": 8, "symbol": series.style.symbol}
    quantity = TASK if column == TASK.column else LATENCY
    name = with_maximum(series, worst[column].max(), "ns", series.run.summary(quantity).at_least)
    look = {"name": name, "legendgroup": series.run.id, "marker": marker, "line": line(series)}
    return bands(series, worst, width, column) | look


def bands(series: Series, worst: pl.DataFrame, width: int, column: str) -> Trace:
    ranges = [f"{band * width + 1}–{(band + 1) * width}" for band in worst["band"]]
    keys = interrupt_keys(worst["sample"], worst["operation_seq"])
    return scatter(
        x=(worst["band"].to_numpy() * width + (width + 1) / 2),
        y=in_us(worst[column]),
        mode="lines+markers",
        meta=timed(meta(series)),
        customdata=pl.DataFrame({"key": keys, "range": ranges, "n": worst["n"]}),
        hovertemplate=f"depth %{{customdata[1]}}: worst {WHOLE} of n = %{{customdata[2]}}<br>"
        "operation %{customdata[0]}",
    )


def latency_by_depth(series: Sequence[Series], met: Sequence[pl.DataFrame]) -> Chart | None:
    """The worst STIM→ISR and CTRL→CISR of each band of depths; `met` is `at_depth` of each run.

    None without depths.
    """
    tables = [table.filter(~pl.col("control")) for table in met]
    if (drawn := worst_by_depth(series, tables, INTERRUPT_COLUMN, "latency (µs)")) is None:
        return None
    figure, width = drawn
    for member, table in zip(series, met, strict=True):
        if len(worst := worst_per_band(table.filter("control"), width, INTERRUPT_COLUMN)):
            figure.add(_control(member, worst, width))
    counted = per_series(
        series, [len(table) for table in tables], "interrupts during operations with a depth"
    )
    explanation = (
        "Points are single interrupts that fell into an operation of that depth; the line is the worst of "
        "each band. A dip means that no stimulus came early in a search, not that the search was shorter. "
    )
    if control := about_control(series):
        explanation += f"{control} It shows that the rise is the allocator's. "
    explanation += caveats(series)
    return make_chart(
        "depth", "Interrupt latency against depth", series, counted, explanation, figure, height=460
    )


def _control(series: Series, worst: pl.DataFrame, width: int) -> Trace:
    """Thin and with open markers; one switch for all runs."""
    marker = {"color": series.style.colour, "size": 8, "symbol": f"{series.style.symbol}-open"}
    thin = {"color": series.style.colour, "width": 1, "dash": MEANT_DOT}
    switch = {"name": "control interrupt", "legendgroup": "control", "meta": timed(shared_switch(series))}
    return bands(series, worst, width, INTERRUPT_COLUMN) | {"marker": marker, "line": thin} | switch


def task_latency_by_depth(series: Sequence[Series], met: Sequence[pl.DataFrame]) -> Chart | None:
    """The worst STIM→TASK of each band of depths; `met` is `at_depth` of each run.

    None without depths, or if every lock masks interrupts.
    """
    if not any(spares_interrupts(member) for member in series):
        return None
    tables = [table.filter(~pl.col("control")).drop_nulls(TASK_COLUMN) for table in met]
    if (drawn := worst_by_depth(series, tables, TASK_COLUMN, "latency, stimulus to task (µs)")) is None:
        return None
    figure, _ = drawn
    counted = per_series(
        series, [len(table) for table in tables], "tasks woken during operations with a depth"
    )
    explanation = (
        "The time from the stimulus to the first instruction of the task that its interrupt wakes, with the "
        "answer and the switch of tasks in it. It grows with a critical section, whatever the lock. "
    ) + caveats(series)
    return make_chart("task", "Task latency against depth", series, counted, explanation, figure, height=460)
