"""The page of what holds interrupts off in a program: `./lab masks --output FILE.html`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.program.masks.intervals import KINDS
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


def charts(report: MaskReport) -> list[Chart]:
    """All figures of which there are values."""
    return list(_charts(report))


def _charts(report: MaskReport) -> Iterator[Chart]:
    ended = report.counted_intervals.drop_nulls("cycles")
    if ended.is_empty():
        return
    by_kind = [(kind, ended.filter(kind=kind)) for kind in KINDS]
    tables = [(kind, rows) for kind, rows in by_kind if rows.height]
    counted = f"n = {', '.join(f'{rows.height:,} {kind}' for kind, rows in tables)}"
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
    priorities = [
        (f"{priority.number} ({priority.priority:#04x}) {few(priority.exceptions)}", rows)
        for priority in report.used_priorities
        if (rows := priority.intervals.drop_nulls("cycles")).height
    ]
    if priorities:
        yield Chart(
            "priorities",
            "How long an interrupt of a priority is not taken",
            provenance,
            "Masks and handlers together, whatever holds it off; a handler of the same priority does, too.",
            (),
            _survival(priorities),
        )


def _survival(tables: Sequence[tuple[str, pl.DataFrame]]) -> Figure:
    figure = Figure()
    looks = assign_styles(name for name, _ in tables)
    for name, rows in tables:
        ns, share, cycles = survival(rows)
        figure.add(
            scatter(
                x=(ns / _NS_PER_US).tolist(),
                y=share.tolist(),
                customdata=cycles.tolist(),
                name=name,
                mode="lines+markers",
                marker={"size": 5, "color": looks[name].colour},
                line={"color": looks[name].colour, "dash": looks[name].dash, "shape": "vh"},
                hovertemplate="%{y:.4~g} at or above %{x:,.6~g} µs<br>%{customdata:,} cycles",
            )
        )
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 60}, showlegend=True)
    figure.update_xaxes(title_text="µs", type="log")
    figure.update_yaxes(title_text="share at or above", type="log", dtick=1, exponentformat="power")
    return figure


def survival(
    rows: pl.DataFrame,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Lengths in ns, the share of intervals at least as long, and cycles; bounded in number."""
    counted = rows.group_by("ns").agg(pl.len(), pl.col("cycles").max()).sort("ns")
    at_or_above = rows.height - counted["len"].cum_sum().to_numpy() + counted["len"].to_numpy()
    step = max(counted.height // MOST_POINTS, 1)
    # From the longest down, so that it is always among them.
    drawn = np.arange(counted.height - 1, -1, -step)[::-1]
    return (
        counted["ns"].to_numpy()[drawn],
        (at_or_above / rows.height)[drawn],
        counted["cycles"].to_numpy()[drawn],
    )


def _timeline(report: MaskReport, tables: Sequence[tuple[str, pl.DataFrame]]) -> Figure:
    figure = Figure()
    looks = assign_styles(name for name, _ in tables)
    for name, rows in tables:
        table = longest_of_each_bin(rows, report.cycles)
        names = [name_of(name, level, report.places) for level in table["level"]]
        figure.add(
            scatter(
                x=(report.clock.ns(table["begin_cycle"].to_numpy()) / _NS_PER_MS).tolist(),
                y=(table["ns"] / _NS_PER_US).to_list(),
                customdata=list(zip(names, table["cycles"], table["begin_cycle"], strict=True)),
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
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 60}, showlegend=True)
    figure.update_xaxes(title_text="ms since reset")
    figure.update_yaxes(title_text="µs", type="log")
    return figure


def longest_of_each_bin(rows: pl.DataFrame, cycles: int) -> pl.DataFrame:
    """The longest interval that begins in each of MOST_POINTS equal parts of the run."""
    width = max(-(-cycles // MOST_POINTS), 1)
    return (
        rows.sort("ns", "begin_cycle", descending=[True, False])
        .with_columns(bin=pl.col("begin_cycle") // width)
        .unique("bin", keep="first")
        .sort("begin_cycle")
    )


def write(report: MaskReport, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(report).encode())


def html(report: MaskReport) -> str:
    """The whole page. Equal runs give equal text."""
    first, *others = opening(report)
    return sheet("masks.html", first, others, charts(report), of_parts(of_report(report)))
