"""Interrupt latency, split by what the stimulus met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from base.metrology.summaries import AT_LEAST
from dashboards.caveats import TICKS
from dashboards.figures.chart import WHOLE, Chart, in_us, make_chart, row_heights, timed
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.formatting import grouped, microseconds
from dashboards.loaded.series import INK, Series, about_control, caveats
from dashboards.waveforms import entry_name, interrupt_keys, meta

_MET = (("critical", "met a critical section"),)
_OTHERS = (
    ("operation", "in an operation, not critical"),
    ("none", "outside operations"),
    ("control", "control interrupt"),
)


_ROW_PX = 36


def interrupt_latency(series: Sequence[Series]) -> Chart | None:
    """A strip for each run, of the interrupts that met a critical section, the worst first.

    None without any.
    """
    return _chart("latency", "Interrupt latency where it met a critical section", _MET, series)


def other_latency(series: Sequence[Series]) -> Chart | None:
    """A strip for each other class and run; folded. None without answered interrupts."""
    chart = _chart("latency-others", "Interrupt latency where it met none", _OTHERS, series)
    return replace(chart, folded=True) if chart else None


def _chart(
    key: str, title: str, classes: Sequence[tuple[str, str]], series: Sequence[Series]
) -> Chart | None:
    """Strips with count and maximum, of each class the worst first."""
    figure, names, total = Figure(), [], 0
    for one, words, table in _strips(classes, series):
        total += int(table["n"].sum())
        sign = AT_LEAST if table["open"].any() else ""
        worst = sign + microseconds(float(table["isr_latency_ns"].max()))  # type: ignore[arg-type]
        row = f"{words}: {one.label}"
        figure.add(_strip(one, table, row))
        figure.add(_ticks(one, table.filter("tick"), row))
        names.append(_name(one, f"{row}, max {worst}, n = {_counted(table)}", row))
    if not names:
        return None
    figure.update_xaxes(title_text="latency, stimulus to handler (µs)", rangemode="tozero")
    figure.update_yaxes(type="category", autorange="reversed", showticklabels=False)
    figure.update_layout(meta=row_heights(90, _ROW_PX), annotations=names)
    explanation = (
        "Each stroke is a latency that occurred. Met a critical section: CRIT was high at some sample "
        "between stimulus and answer, so the interrupt waited for its end. Undecided: an edge of CRIT lies "
        f"so near that it may have met it or not. {about_control(series)} {TICKS} "
    ) + caveats(series)
    counted = f"n = {grouped(total)} answered stimuli{_merged(series)}"
    chart = make_chart(key, title, series, counted, explanation, figure, 90 + _ROW_PX * len(names))
    figure.update_layout(showlegend=False, margin={"l": 18, "t": 30})
    figure.update_yaxes(ticks="", showgrid=False)
    return chart


def _strips(
    classes: Sequence[tuple[str, str]], series: Sequence[Series]
) -> Iterator[tuple[Series, str, pl.DataFrame]]:
    """Run, words and waits of each, the worst of a class first.

    The class `control` is the control interrupt, whatever it met.
    """
    for hit, words in classes:
        chosen = pl.col("control") if hit == "control" else ~pl.col("control") & (pl.col("hit") == hit)
        waits = [(table, member) for member in series if len(table := member.run.waits.filter(chosen))]
        for table, member in sorted(waits, key=lambda pair: -pair[0]["isr_latency_ns"].max()):  # type: ignore[operator]
            yield member, words, table


def _counted(table: pl.DataFrame) -> str:
    """The number of samples, and of how many the wire does not tell the class."""
    undecided, n = (int(table[name].sum()) for name in ("undecided", "n"))
    return grouped(n) + (f", {grouped(undecided)} of them undecided" if undecided else "")


def _strip(series: Series, table: pl.DataFrame, row: str) -> Trace:
    distinct = (
        table.group_by("isr_latency_ns", maintain_order=True)
        .agg(pl.col("n").sum(), pl.first("sample", "operation_seq"))
        .sort("isr_latency_ns")
    )
    keys = interrupt_keys(distinct["sample"], distinct["operation_seq"])
    return scatter(
        x=in_us(distinct["isr_latency_ns"]),
        y=[row] * len(distinct),
        mode="markers",
        marker={"symbol": "line-ns", "size": 11, "line": {"width": 1.5, "color": series.style.tint(0.6)}},
        name=series.label,
        meta={**timed(meta(series), "x"), "rows": 1},
        customdata=pl.DataFrame({"key": keys, "n": distinct["n"]}),
        hovertemplate=f"{WHOLE}, seen %{{customdata[1]}} times<br>%{{customdata[0]}}",
    )


def _ticks(series: Series, table: pl.DataFrame, row: str) -> Trace:
    """A ring around each latency of an answer that the kernel's tick may have delayed."""
    table = table.select("isr_latency_ns", "sample", "operation_seq").unique(
        "isr_latency_ns", keep="first", maintain_order=True
    )
    return scatter(
        x=in_us(table["isr_latency_ns"]),
        y=[row] * len(table),
        mode="markers",
        marker={"symbol": "circle-open", "size": 9, "color": INK, "line": {"width": 1.2, "color": INK}},
        name=f"{series.label}, tick",
        meta=timed(meta(series), "x"),
        customdata=interrupt_keys(table["sample"], table["operation_seq"]),
        hovertemplate=f"{WHOLE}, a tick's handler may have run meanwhile<br>%{{customdata}}",
    )


def _name(series: Series, text: str, row: str) -> dict[str, object]:
    """The label of a strip. Above it, the words take no width from a narrow screen."""
    position = {"x": 0, "xref": "paper", "xanchor": "left", "y": row, "yshift": 14}
    font = {"size": 12, "color": INK}
    return {**position, "text": text, "font": font, "showarrow": False, "name": entry_name(series)}


def _merged(series: Sequence[Series]) -> str:
    merged = sum(int(drawn.run.waits["merged"].sum()) for drawn in series)
    return f", {grouped(merged)} merged into the wait of an earlier one" if merged else ""
