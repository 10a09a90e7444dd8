"""The page's figure: the heap that a trace needs beside the worst section of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboards.figures import figure as plain
from dashboards.figures.chart import Chart, in_us, style
from dashboards.figures.figure import Trace, scatter
from dashboards.formatting import grouped, whole
from dashboards.loaded.series import INK, MUTED
from dashboards.tradeoff.needs import Figure, Need, Run, cost_metric_bytes, used_bytes

_HEIGHT_PX = 480


@dataclass(frozen=True)
class Point:
    """A run of an allocator in the trade-off, and the heap that its trace needs."""

    need: Need
    heap_bytes: float
    run: Run

    @property
    def worst_ns(self) -> float:
        return self.run.worst_ns


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
    best = best_of(all_points)
    figure = plain.Figure(_steps(best), _dots(all_points))
    figure.update_layout(showlegend=False)
    style(figure, _HEIGHT_PX)
    figure.update_xaxes(title_text=heap_figure(needs)[1], type="log")
    figure.update_yaxes(title_text="worst critical section (µs)", rangemode="tozero")
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


def _dots(found: Sequence[Point]) -> Trace:
    """All points, each with the number that its name has in the tables."""
    return scatter(
        x=[point.heap_bytes for point in found],
        y=in_us([point.worst_ns for point in found]),
        mode="markers+text",
        text=[str(point.need.number) for point in found],
        textposition="top right",
        textfont={"size": 11, "color": INK},
        marker={
            "size": 9,
            "color": [point.need.style.colour for point in found],
            "symbol": [point.need.style.symbol for point in found],
        },
        cliponaxis=False,
        customdata=[_hover(point) for point in found],
        hovertemplate="%{customdata}<extra></extra>",
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
        "Down and to the left is better. A number is the place of its allocator in the tables. The worst "
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
