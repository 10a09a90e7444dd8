"""The page's figures: the trade-off, and what becomes of the heap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.figures import figure as plain
from dashboards.figures.chart import Chart, in_us, style
from dashboards.figures.figure import Trace, bar, scatter
from dashboards.formatting import grouped, whole
from dashboards.loaded.series import INK, MUTED, SHADES
from dashboards.tradeoff.labels import place
from dashboards.tradeoff.needs import Figure, Need, Run, cost_metric_bytes, johnstone, sbbm_bytes, used_bytes

_HEIGHT_PX, _ROW_PX, _AROUND_PX = 480, 24, 110
# What the axes leave to points on paper and on a telephone. Wider screens keep labels apart too.
_PLOT_PX, _NARROW_PLOT_PX, _PLOT_HEIGHT_PX = 590, 280, 410
_BEYOND, _BELOW = 1.08, 0.03
_RATIOS = ("mean of used / live", "at peak live", "at peak used", "peak used / peak live")
_SYMBOLS = ("circle", "diamond", "triangle-up", "square")
_SHADES = (SHADES[1], SHADES[0], SHADES[2], SHADES[3])


@dataclass(frozen=True)
class Point:
    """A run of an allocator in the trade-off, and the heap that its trace needs."""

    need: Need
    heap_bytes: float
    run: Run

    @property
    def worst_ns(self) -> float:
        return self.run.worst_ns


@dataclass(frozen=True)
class _Area:
    """The ranges of the trade-off's axes, with some room around all points.

    `left` and `right` are logarithms of bytes, `bottom` and `top` ns.
    """

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, found: Sequence[Point]) -> _Area:
        heaps = [math.log10(max(point.heap_bytes, 1)) for point in found]
        room = max((max(heaps) - min(heaps)) * (_BEYOND - 1), 0.04)
        worst = max(point.worst_ns for point in found) or 1.0
        return cls(min(heaps) - room, max(heaps) + room, -_BELOW * worst, _BEYOND * worst)

    def pixels(self, found: Sequence[Point], width: float) -> list[tuple[float, float]]:
        """The points in pixels on a plot of this width, from its upper left corner."""
        return [
            (
                (math.log10(max(point.heap_bytes, 1)) - self.left) / (self.right - self.left) * width,
                (self.top - point.worst_ns) / (self.top - self.bottom) * _PLOT_HEIGHT_PX,
            )
            for point in found
        ]


def charts(needs: Sequence[Need], provenance: str) -> list[Chart]:
    """All figures. `provenance` says what they are of."""
    made = (tradeoff(needs, provenance), lost(needs, provenance), ratios(needs, provenance))
    return [chart for chart in (*made, reserve(needs, provenance)) if chart is not None]


def heap_figure(needs: Sequence[Need]) -> tuple[Figure, str]:
    """The figure on the x axis and its title: the smallest heap, or used bytes without one."""
    if any(need.typical(cost_metric_bytes) is not None for need in needs):
        return cost_metric_bytes, "smallest heap that serves all requests (bytes)"
    return used_bytes, "used bytes in the given heap"


def points(needs: Sequence[Need]) -> list[Point]:
    """A point for each run, at the heap that its own trace needs."""
    figure, _ = heap_figure(needs)
    return [
        Point(need, heap, run)
        for need in needs
        for run in need.runs
        if (heap := figure(need.rows[run.trace])) is not None
    ]


def best_of(points: Iterable[Point]) -> list[Point]:
    """The points that no other beats in both: less heap means a longer section there."""
    best: list[Point] = []
    for point in sorted(points, key=lambda point: (point.heap_bytes, point.worst_ns)):
        if not best or point.worst_ns < best[-1].worst_ns:
            best.append(point)
    return best


def tradeoff(needs: Sequence[Need], provenance: str) -> Chart | None:
    """Heap needed against the worst critical section. None where no run was given."""
    all_points = points(needs)
    if not all_points:
        return None
    best, area = best_of(all_points), _Area.around(all_points)
    figure = plain.Figure()
    figure.add(_steps(best), _dots(all_points, best, area))
    title = heap_figure(needs)[1]
    figure.update_layout(showlegend=False)
    style(figure, _HEIGHT_PX)
    figure.update_xaxes(title_text=title, range=[area.left, area.right], **log_ticks(area.left, area.right))
    vertical = in_us([area.bottom, area.top]).tolist()
    figure.update_yaxes(title_text="worst critical section (µs)", range=vertical)
    counts = [point.run.n for point in all_points]
    each = f"{min(counts):,}…{max(counts):,}" if len(set(counts)) > 1 else f"{max(counts):,}"
    return Chart(
        "tradeoff",
        "Heap against worst case",
        f"{len(all_points)} runs, n = {each} allocations and frees each · {provenance}",
        _tradeoff_words(needs, all_points, best),
        (),
        figure,
    )


def _dots(found: Sequence[Point], best: Sequence[Point], area: _Area) -> Trace:
    """All points; those that no other beats and the extremes have labels."""
    ends = [max(found, key=lambda point: point.heap_bytes), max(found, key=lambda point: point.worst_ns)]
    named = [any(point is other for other in (*best, *ends)) for point in found]
    long = [
        (point.need.label, str(point.need.number)) if has_name else ()
        for point, has_name in zip(found, named, strict=True)
    ]
    short = [
        (str(point.need.number),) if has_name else () for point, has_name in zip(found, named, strict=True)
    ]
    texts, places = place(area.pixels(found, _PLOT_PX), long, _PLOT_PX, _PLOT_HEIGHT_PX)
    few, where = place(area.pixels(found, _NARROW_PLOT_PX), short, _NARROW_PLOT_PX, _PLOT_HEIGHT_PX)
    return scatter(
        x=[point.heap_bytes for point in found],
        y=in_us([point.worst_ns for point in found]),
        mode="markers+text",
        text=texts,
        textposition=places,
        textfont={"size": 11, "color": INK},
        marker={
            "size": 9,
            "color": [point.need.style.colour for point in found],
            "symbol": [point.need.style.symbol for point in found],
        },
        cliponaxis=False,
        customdata=[_hover(point) for point in found],
        hovertemplate="%{customdata}<extra></extra>",
        meta={"narrow": {"text": few, "textposition": where}},
    )


def _hover(point: Point) -> str:
    heap = f"<b>{point.need.label}</b><br>heap {grouped(point.heap_bytes)} bytes"
    return f"{heap}<br>worst {point.run.kind} {whole(point.worst_ns, 'ns')}"


def _steps(best: Sequence[Point]) -> Trace:
    return scatter(
        x=[point.heap_bytes for point in best],
        y=in_us([point.worst_ns for point in best]),
        mode="lines",
        line={"color": MUTED, "dash": "dot", "width": 1.5, "shape": "hv"},
        hoverinfo="skip",
    )


def _tradeoff_words(needs: Sequence[Need], found: Sequence[Point], best: Sequence[Point]) -> str:
    words = [
        "Down and to the left is better. Labels name those that no other beats, and the extremes. The worst "
        "is the longest critical section on the wire of a measured allocation or free."
    ]
    if len(best) == 1:
        words.append(f"No other beats {best[0].need.label} in either.")
    elif best:
        names = ", ".join(dict.fromkeys(point.need.label for point in best))
        words.append(f"The dotted line joins those that no other beats in both: {names}.")
    if idle := [need.label for need in needs if not need.runs]:
        words.append(f"Not in the figure, as no run was given: {', '.join(idle)}.")
    shown = {point.need.name for point in found}
    if absent := [need.label for need in needs if need.runs and need.name not in shown]:
        words.append(f"Not in the figure, as no heap that serves was found: {', '.join(absent)}.")
    return " ".join(words)


def lost(needs: Sequence[Need], provenance: str) -> Chart:
    """Bars of live and lost bytes, together the used ones, and a mark at the smallest heap."""
    names = _names(needs)
    live = [need.live_bytes for need in needs]
    rest = [need.used_bytes - need.live_bytes for need in needs]
    figure = plain.Figure(
        *[
            _bar("live", names, live, SHADES[0]),
            _bar("lost: used less live", names, rest, SHADES[1]),
            scatter(
                x=[need.typical(cost_metric_bytes) for need in needs],
                y=names,
                mode="markers",
                name="smallest heap",
                marker={"symbol": "line-ns-open", "size": 14, "color": INK, "line": {"width": 2}},
                hovertemplate="%{y}: smallest heap %{x:,} bytes<extra></extra>",
            ),
        ]
    )
    figure.update_layout(barmode="stack", legend={"traceorder": "normal"})
    explanation = (
        "Both at their largest, in the given heap. Live is what was asked for; used is from the lowest byte "
        "to the highest that a block ever had. The smallest heap is searched apart and has the region's "
        "management in it, so it may lie on either side of used."
    )
    return _rows("lost", "Live, used and lost", figure, needs, "bytes", explanation, provenance)


def ratios(needs: Sequence[Need], provenance: str) -> Chart | None:
    """Johnstone's four. None where nothing was served."""

    served = [need for need in needs if need.typical(johnstone(0)) is not None]
    if not served:
        return None
    figure = plain.Figure(
        *[
            scatter(
                x=[need.typical(johnstone(place)) for need in served],
                y=_names(served),
                mode="markers",
                name=f"{place + 1}: {words}",
                marker={"symbol": _SYMBOLS[place], "size": 8, "color": _SHADES[place]},
                hovertemplate="%{y}: %{x:.3f}<extra></extra>",
            )
            for place, words in enumerate(_RATIOS)
        ]
    )
    explanation = (
        "Used bytes over live bytes, in four ways (docs/how-to/fragmentation.md). 1 is a heap without loss."
    )
    title = "Fragmentation, by Johnstone's four ratios"
    return _rows("ratios", title, figure, served, "used / live (ratio)", explanation, provenance)


def reserve(needs: Sequence[Need], provenance: str) -> Chart | None:
    """SBBM: the largest free block at the worst moment. None where nothing was served."""

    served = [need for need in needs if need.typical(sbbm_bytes) is not None]
    if not served:
        return None
    values = [need.known(sbbm_bytes) for need in served]
    figure = plain.Figure(_bar("SBBM", _names(served), values, SHADES[2]))
    figure.update_layout(showlegend=False)
    explanation = (
        "SBBM, the Smallest-Biggest-Block Metric: the largest free block after each allocation, and of these "
        "the smallest. What the given heap still had in one piece."
    )
    return _rows(
        "sbbm", "Largest free block at the worst moment", figure, served, "bytes", explanation, provenance
    )


def _bar(name: str, names: Sequence[str], values: Sequence[float], colour: str) -> Trace:
    return bar(
        x=values,
        y=names,
        orientation="h",
        name=name,
        marker={"color": colour},
        hovertemplate=f"%{{y}}: {name} %{{x:,}} bytes<extra></extra>",
    )


def _names(needs: Sequence[Need]) -> list[str]:
    return [need.label for need in needs]


def _rows(
    key: str,
    title: str,
    figure: plain.Figure,
    needs: Sequence[Need],
    axis: str,
    explanation: str,
    provenance: str,
) -> Chart:
    """A chart with a row for each allocator, in the order of the tables."""
    style(figure, _AROUND_PX + _ROW_PX * len(needs))
    figure.update_xaxes(title_text=axis, rangemode="tozero", nticks=6)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category", dtick=1)
    count = len(needs[0].rows)
    counted = f"medians of {count} traces" if count > 1 else "n = 1 trace"
    return Chart(key, title, f"{counted} · {provenance}", explanation, (), figure)


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis with ticks at 1, 2, 3, 5 and 7 of each power of ten, from 10**low on."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    values = [step * 10**power for power in powers for step in (1, 2, 3, 5, 7) if power >= 0]
    shown = [value for value in values if low <= math.log10(value) <= high]
    return {"type": "log", "tickvals": shown, "ticktext": [grouped(value) for value in shown]}
