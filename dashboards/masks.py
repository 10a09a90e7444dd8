"""The page of what holds interrupts off in a program: `./lab masks --output FILE.html`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from analysis.program.masks.log import Interval
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.text import of_report, opening
from analysis.program.masks.worst import name_of
from analysis.program.parts import few
from base.files.whole import write_bytes
from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, scatter
from dashboards.loaded.series import assign_styles
from dashboards.page.templates import sheet
from dashboards.parts import of_parts

_HEIGHT_PX = 420
_NS_PER_US = 1000
_NS_PER_MS = 1e6
# Of each curve, and of each kind in the timeline, at most about so many points are drawn.
MOST_POINTS = 1500

Tables = Mapping[str, Sequence[Interval]]


def _by(pairs: Iterable[tuple[str, Interval]]) -> Tables:
    """The intervals that ended, by a word."""
    tables: dict[str, list[Interval]] = {}
    for name, it in pairs:
        if it.end_cycle is not None:
            tables.setdefault(name, []).append(it)
    return tables


def charts(report: MaskReport) -> Iterator[Chart]:
    """All figures of which there are values."""
    by_kind = _by((it.kind, it) for it in report.counted_intervals)
    tables = {kind: by_kind[kind] for kind in report.intervals if kind in by_kind}
    if not tables:
        return
    counted = f"n = {', '.join(f'{len(rows):,} {kind}' for kind, rows in tables.items())}"
    provenance = f"{counted} · {report.subject.name}, {report.cycles:,} cycles, virtual board"
    yield Chart(
        "survival",
        "How long interrupts are held off",
        provenance,
        "The share of intervals at least so long. A curve ends at the longest: what counts, but no bound.",
        (),
        _survival(tables),
    )
    yield Chart(
        "timeline",
        "When they were held off",
        provenance,
        "Each interval by when it began and how long it was. Where many fall together, the longest stands "
        "for them: no maximum is left out.",
        (),
        _timeline(report, tables),
    )
    priorities = _by(
        (f"{row.number} ({row.priority:#04x}) {few(row.exceptions)}", it)
        for row in report.used_priorities
        for it in row.intervals
    )
    if priorities:
        yield Chart(
            "priorities",
            "How long an interrupt of a priority is not taken",
            provenance,
            "Masks and handlers together, whatever holds it off; a handler of the same priority does, too.",
            (),
            _survival(priorities),
        )


def _survival(tables: Tables) -> Figure:
    figure = Figure()
    looks = assign_styles(tables)
    for name, rows in tables.items():
        points = survival([(it.ns or 0.0, it.cycles or 0) for it in rows])
        figure.add(
            scatter(
                x=[ns / _NS_PER_US for ns, _, _ in points],
                y=[share for _, share, _ in points],
                customdata=[cycles for _, _, cycles in points],
                name=name,
                mode="lines+markers",
                marker={"size": 5, "color": looks[name].colour},
                line={"color": looks[name].colour, "dash": looks[name].dash, "shape": "vh"},
                hovertemplate="%{y:.4~g} at or above %{x:,.6~g} µs<br>%{customdata:,} cycles",
            )
        )
    _style(figure, "µs")
    figure.update_xaxes(type="log")
    figure.update_yaxes(title_text="share at or above", type="log", dtick=1, exponentformat="power")
    return figure


def _style(figure: Figure, abscissa: str) -> None:
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 60}, showlegend=True)
    figure.update_xaxes(title_text=abscissa)


def survival(lengths: Sequence[tuple[float, int]]) -> list[tuple[float, float, int]]:
    """Of ns and cycles: each length in ns, the share of intervals at least as long, and the most
    cycles of one; bounded in number.
    """
    points: dict[float, tuple[float, int]] = {}
    for number, (ns, cycles) in enumerate(sorted(lengths, reverse=True), 1):
        points[ns] = (number / len(lengths), max(cycles, points.get(ns, (0, 0))[1]))
    # From the longest down, so that it is always among them.
    rows = [(ns, *rest) for ns, rest in points.items()]
    return rows[:: max(len(rows) // MOST_POINTS, 1)][::-1]


def _timeline(report: MaskReport, tables: Tables) -> Figure:
    figure = Figure()
    looks = assign_styles(tables)
    for name, rows in tables.items():
        longest = longest_of_each_bin(rows, report.cycles)
        figure.add(
            scatter(
                x=[report.clock.ns(it.begin_cycle) / _NS_PER_MS for it in longest],
                y=[(it.ns or 0.0) / _NS_PER_US for it in longest],
                customdata=[
                    (name_of(name, it.level, report.places), it.cycles, it.begin_cycle) for it in longest
                ],
                name=name,
                mode="markers",
                marker={
                    "color": looks[name].colour,
                    "symbol": looks[name].symbol,
                    "size": 8,
                    "opacity": 0.7,
                },
                hovertemplate="%{customdata[0]}<br>%{customdata[1]:,} cycles, %{y:,.6~g} µs"
                "<br>from cycle %{customdata[2]:,}<extra></extra>",
            )
        )
    _style(figure, "ms since reset")
    figure.update_yaxes(title_text="µs", type="log")
    return figure


def longest_of_each_bin(rows: Iterable[Interval], cycles: int) -> list[Interval]:
    """The longest interval that begins in each of MOST_POINTS equal parts of the run."""
    width = max(-(-cycles // MOST_POINTS), 1)
    longest: dict[int, Interval] = {}
    for it in rows:
        other = longest.setdefault(it.begin_cycle // width, it)
        if (it.ns or 0.0) > (other.ns or 0.0):
            longest[it.begin_cycle // width] = it
    return list(longest.values())


def write(report: MaskReport, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(report).encode())


def html(report: MaskReport) -> str:
    """The whole page. Equal runs give equal text."""
    first, *others = opening(report)
    return sheet("masks.html", first, others, [*charts(report)], of_parts(of_report(report)))
