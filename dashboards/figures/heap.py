"""The heap: what it takes beside the worst interrupt, and its course over a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from base.run_folder.quantities import LATENCY
from dashboards.figures.chart import WHOLE, Chart, in_us, line, make_chart, timed
from dashboards.figures.figure import Figure, Trace, scatter
from dashboards.formatting import grouped
from dashboards.loaded.series import INK, MUTED, PAPER, Series, spares_interrupts
from dashboards.waveforms import meta, worst_key

T = TypeVar("T")


def frontier(items: Iterable[T], of: Callable[[T], tuple[float, float]]) -> list[T]:
    """The items that no other beats in both numbers of `of`, ordered by the first."""
    best: list[T] = []
    for item in sorted(items, key=of):
        if not best or of(item)[1] < of(best[-1])[1]:
            best.append(item)
    return best


def heap_against_worst(series: Sequence[Series]) -> Chart | None:
    """A point for each run. None where no run tells its heap."""
    placed = [member for member in series if _place(member) is not None]
    if not placed:
        return None
    masking = [series for series in placed if not spares_interrupts(series)]
    best = frontier(masking or placed, lambda series: _place(series) or (0.0, 0.0))
    named = _named(placed, best)
    figure = Figure(
        _steps(best), _every(placed, named), *(_point(series, series.name in named) for series in placed)
    )
    seen = _range(placed)
    figure.update_xaxes(title_text="heap used (bytes)", range=seen, **log_ticks(*seen))
    figure.update_yaxes(title_text="worst interrupt (µs)", rangemode="tozero")
    names = ", ".join(series.name for series in best)
    explanation = f"The dotted line joins the runs that no other beats in both: {names}."
    if 0 < len(masking) < len(placed):
        explanation += (
            " Open points suspend the scheduler and hold off tasks instead: the line leaves them out."
        )
    counted = f"n = {len(placed)} runs"
    title = "Worst interrupt against heap"
    chart = make_chart("tradeoff", title, placed, counted, explanation, figure, height=460)
    figure.update_layout(showlegend=False)
    return chart


def _named(shown: Sequence[Series], best: Sequence[Series]) -> dict[str, str]:
    """Where the label of a point stands: of those that no other beats, and of the extremes.

    Below and to the left of the former nothing else can be.
    """
    ends = [max(shown, key=lambda series: (_place(series) or (0.0, 0.0))[axis]) for axis in (0, 1)]
    return {series.name: "top center" for series in ends} | {series.name: "bottom left" for series in best}


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis with ticks at 1, 2, 3, 5 and 7 of each power of ten, from 10**low on."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    values = [step * 10**power for power in powers for step in (1, 2, 3, 5, 7) if power >= 0]
    shown = [value for value in values if low <= math.log10(value) <= high]
    return {"type": "log", "tickvals": shown, "ticktext": [grouped(value) for value in shown]}


def _range(shown: Sequence[Series]) -> list[float]:
    """Of the logarithmic axis, with room for labels beside all points."""
    heaps = [math.log10(max((_place(series) or (1.0, 0.0))[0], 1.0)) for series in shown]
    room = max(0.12 * (max(heaps) - min(heaps)), 0.05)
    return [min(heaps) - room, max(heaps) + room]


def _place(series: Series) -> tuple[float, float] | None:
    """Heap used in bytes, and the worst interrupt in ns."""
    memory, worst = series.run.manifest.memory, series.run.summary(LATENCY).max
    return (
        None if memory is None or memory.used_bytes is None or worst is None else (memory.used_bytes, worst)
    )


def _steps(best: Sequence[Series]) -> Trace:
    places = [_place(series) or (0.0, 0.0) for series in best]
    return scatter(
        x=[heap for heap, _ in places],
        y=in_us([worst for _, worst in places]),
        mode="lines",
        line={"color": MUTED, "dash": "dot", "width": 1.5, "shape": "hv"},
        name="no other beats these in both",
        hoverinfo="skip",
    )


def _every(shown: Sequence[Series], named: Mapping[str, str]) -> Trace:
    """Small and grey under the chosen ones, so that those have something to stand beside."""
    places = [_place(series) or (0.0, 0.0) for series in shown]
    return scatter(
        x=[heap for heap, _ in places],
        y=in_us([worst for _, worst in places]),
        mode="markers+text",
        marker={
            "size": 6,
            "color": MUTED,
            "opacity": 0.6,
            "symbol": ["circle-open" if spares_interrupts(series) else "circle" for series in shown],
        },
        name="all runs",
        text=[series.label if series.name in named else "" for series in shown],
        textposition=[named.get(series.name, "top center") for series in shown],
        textfont={"size": 11, "color": INK},
        cliponaxis=False,
        customdata=[series.label for series in shown],
        meta=timed({}),
        hovertemplate=f"%{{customdata}}<br>heap %{{x:,}} bytes, worst interrupt {WHOLE}<extra></extra>",
    )


def _point(series: Series, named: bool) -> Trace:
    heap, worst = _place(series) or (0.0, 0.0)
    symbol = series.style.symbol + ("-open" if spares_interrupts(series) else "")
    return scatter(
        x=[heap],
        y=in_us([worst]),
        mode="markers" if named else "markers+text",
        marker={"size": 11, "color": series.style.colour, "symbol": symbol},
        name=series.label,
        text=None if named else [series.label],
        textposition=None if named else "top center",
        textfont=None if named else {"size": 11, "color": series.style.colour},
        meta=timed(meta(series)),
        customdata=[worst_key(series.run, LATENCY)],
        hovertemplate=f"heap %{{x:,}} bytes, worst interrupt {WHOLE}",
    )


_ROWS = (("live", "live blocks"), ("bytes_in_use", "bytes in use"))


def heap_state(series: Series) -> Chart | None:
    """Live blocks and payload bytes after each operation. None without operations."""
    if series.run.operations.is_empty():
        return None
    figure = Figure.of_plots(rows=2, spacing=0.08, shared_x=True)
    for row, (column, axis) in enumerate(_ROWS, start=1):
        figure.add(_course(series, column), _worst(series, column), row=row)
        figure.update_yaxes(title_text=axis, rangemode="tozero", row=row)
    figure.update_xaxes(title_text="operation (seq)", row=2)
    counted = f"n = {grouped(len(series.run.operations))} operations"
    explanation = (
        "The large marker is the operation with the longest critical section among the measured allocations."
    )
    chart = make_chart(
        f"heap-{series.style.entry}", series.name, [series], counted, explanation, figure, height=360
    )
    figure.update_layout(showlegend=False)
    return chart


def _course(series: Series, column: str) -> Trace:
    table = series.run.operations
    return scatter(
        x=table["seq"].to_numpy(),
        y=table[column].to_numpy(),
        mode="lines",
        line={**line(series, width=1.5), "shape": "hv"},
        name=series.label,
        meta=meta(series),
        hovertemplate="%{y:,} after operation %{x}",
    )


def _worst(series: Series, column: str) -> Trace:
    table = worst_operation(series)
    return scatter(
        x=table["seq"].to_numpy(),
        y=table[column].to_numpy(),
        mode="markers",
        marker={
            "color": series.style.colour,
            "symbol": series.style.symbol,
            "size": 12,
            "line": {"width": 1.5, "color": PAPER},
        },
        name=f"{series.label} worst",
        meta=meta(series),
        hovertemplate="worst: operation %{x}, %{y:,}",
    )


def worst_operation(series: Series) -> pl.DataFrame:
    """The row of the measured allocation with the longest critical section.

    By the wire, or by DWT where the wire has none; no row without a measured allocation.
    """
    allocations = series.run.measured_allocations
    for column in ("wire_critical_samples", "dwt_cycles"):
        longest = allocations[column].max()
        if longest is not None:
            allocations = allocations.filter(pl.col(column) == longest)
    return allocations.head(1)
