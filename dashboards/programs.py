"""The pages of a program: what holds interrupts off in it (`./lab masks --output FILE.html`), and
for how long it can (`./lab bounds --output FILE.html`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain, cycle
from textwrap import shorten

import numpy as np
import plotly.graph_objects as go

from analysis.bounds.price import Block
from analysis.explain.sources import Sources
from analysis.program.bounds import text as bounds_text
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport, Explained
from analysis.program.masks import text as masks_text
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.worst import name_of
from analysis.program.parts import Part
from base.text_table import TextTable
from dashboards.blocks import Chart
from dashboards.figures.chart import legended, thin
from dashboards.formatting import MISSING, grouped
from dashboards.loaded.series import INK, SHADES
from dashboards.page.templates import Sheet

_HEIGHT_PX = 420
_NS_PER_US = 1000
_NS_PER_MS = 1e6


def of_masks(report: MaskReport) -> Sheet:
    """The page of masks. Equal runs give equal text."""
    first, *others = masks_text.opening(report)
    return Sheet(
        "Tailscope: what holds interrupts off",
        first,
        others,
        [*mask_charts(report)],
        of_parts(masks_text.of_report(report)),
        "Cycles are those in which the core was awake: an interrupt that PRIMASK holds ends the sleep of "
        "WFI. Of a handler they reach from where the core begins to enter it to where it begins to return. "
        "Each place shows its longest interval, and × how many there were. An interrupt of a priority is not "
        "taken while a mask or a handler of the same or a more urgent priority holds it off. "
        "docs/tutorial/my-firmware.md says how to read it.",
    )


def of_parts(parts: Iterable[Part]) -> list[TextTable]:
    """A table of each part that has lines: of so many as the page shows. The JSON has all."""
    return [
        TextTable(
            part.title,
            part.headings,
            tuple(
                tuple(cell.replace("\n", "; ") or MISSING for cell in line)
                for line in part.lines[:_MOST_ROWS]
            ),
        )
        for part in parts
        if part.lines
    ]


def mask_charts(report: MaskReport) -> Iterator[Chart]:
    """All figures of which there are values."""
    ended = [it for it in report.counted_intervals if it.end_cycle is not None]
    of_each = {kind: [it for it in ended if it.kind == kind] for kind in report.intervals}
    tables = {kind: rows for kind, rows in of_each.items() if rows}
    if not tables:
        return
    survival, timeline = go.Figure(), go.Figure()
    for (name, rows), colour in zip(tables.items(), cycle(SHADES), strict=False):
        us = np.array([it.ns or 0.0 for it in rows]) / _NS_PER_US
        values, counts = np.unique(us, return_counts=True)
        survival.add_scatter(
            x=values,
            # The share of intervals at least as long.
            y=counts[::-1].cumsum()[::-1] / len(rows),
            name=name,
            mode="lines+markers",
            marker_size=5,
            line_color=colour,
            line_shape="vh",
            hovertemplate="%{y:.4~g} at or above %{x:,.6~g} µs",
        )
        timeline.add_scatter(
            x=[report.clock.ns(it.begin_cycle) / _NS_PER_MS for it in rows],
            y=us,
            customdata=[f"{name_of(name, it.level, report.places)}, {it.cycles:,} cycles" for it in rows],
            name=name,
            mode="markers",
            marker_color=colour,
            marker_size=8,
            marker_opacity=0.7,
            hovertemplate="%{customdata}, %{y:,.6~g} µs<br>at %{x:,.6~g} ms<extra></extra>",
        )
    legended(survival, _HEIGHT_PX, "µs", "share at or above", 60).update_xaxes(type="log")
    legended(timeline, _HEIGHT_PX, "ms since reset", "µs", 60)
    for figure in (survival, timeline):
        thin(figure.update_yaxes(type="log"))
    survival.update_yaxes(dtick=1, exponentformat="power")
    counted = f"n = {', '.join(f'{len(rows):,} {kind}' for kind, rows in tables.items())}"
    provenance = f"{counted} · {report.subject.name}, {report.cycles:,} cycles, virtual board"
    yield Chart(
        "survival",
        "How long interrupts are held off",
        provenance,
        "The share of intervals at least so long. A curve ends at the longest: what counts, but no bound.",
        survival,
    )
    yield Chart(
        "timeline",
        "When they were held off",
        provenance,
        "Each interval by when it began and how long it was. Where many fall together, the longest stands "
        "for them: no maximum is left out.",
        timeline,
    )


_AROUND_PX, _ROW_PX, _TOP_PX = 120, 26, 44
# Of sections, and of lines of a table, the page shows so many; the JSON has all.
_MOST_BARS, _MOST_ROWS = 24, 300
_MOST_LINES = 6
_WIDE = 10
_MOST_LETTERS = 48


def of_bounds(report: BoundsReport, explanation: Explained | None) -> Sheet:
    """The page of bounds, with the longest path of one section. Equal reports give equal text."""
    tables = of_parts(bounds_text.of_report(report))
    if explanation is not None:
        tables.append(_lines(report, explanation))
    return Sheet(
        "Tailscope: how long interrupts can be held off",
        bounds_text.headline(report),
        [*bounds_text.remarks(report)],
        [*bound_charts(report)],
        tables,
        "A bound is the longest way through the machine code that the timing model allows, whether a run "
        "goes it or not. Seen is the longest that no handler interrupted. Slack is what lies between: a path "
        "that the run did not go, or one that nothing can. The cycles of a block are those of all its "
        "passes, with the ways on from it, and the blocks of the longest path add up to its bound. "
        "docs/how-to/bounds.md says what a bound presumes.",
    )


def bound_charts(report: BoundsReport) -> Iterator[Chart]:
    """All figures of which there are values."""
    bounded = report.bounded
    of_run = f"{report.subject.name}, {report.costs.wait_states} wait states, virtual board"
    if bounded:
        shown = bounded[:_MOST_BARS]
        yield Chart(
            "sections",
            "Bound, and what was seen",
            f"{len(shown)} of {len(bounded)} that have a bound, the longest first · {of_run}",
            "From the longest that a run saw to the bound. The line between is slack: no run has come there "
            "yet. A tick alone has never run by itself.",
            _sections(shown),
        )
    priorities = [priority for priority in report.used_priorities if priority.cycles is not None]
    if priorities:
        yield Chart(
            "priorities",
            "How long an interrupt of a priority can be held off",
            f"{len(priorities)} of {len(report.used_priorities)} priorities that the run used · {of_run}",
            "The parts add up: the interrupt's own entry, the longest section, and each handler that goes "
            "before it, once.",
            _priorities(priorities),
        )


def _sections(shown: Sequence[Bounded]) -> go.Figure:
    """A row each: a line from what was seen to the bound. If the shortest is a small share of the
    longest, the axis is of powers of ten.
    """
    rows, seen = range(len(shown)), [section.seen or None for section in shown]
    bound = [section.cycles for section in shown]
    figure = go.Figure(
        go.Scatter(
            name="slack",
            # Of no length where nothing was seen.
            x=[end for least, most in zip(seen, bound, strict=True) for end in (least or most, most, None)],
            y=[row for row in rows for _ in range(3)],
            mode="lines",
            line_color="var(--off)",
            line_width=3,
            hoverinfo="skip",
        )
    )
    for name, cycles, colour, symbol, size in (
        ("seen", seen, SHADES[0], "circle", 9),
        ("bound", bound, INK, "line-ns-open", 14),
    ):
        figure.add_scatter(
            name=name,
            x=cycles,
            y=[*rows],
            mode="markers",
            marker_color=colour,
            marker_symbol=symbol,
            marker_size=size,
            marker_line={"width": 3 * (size > 9)},
            customdata=[*map(str, shown)],
            hovertemplate="%{customdata}<br>%{x:,} cycles<extra>%{fullData.name}</extra>",
        )
    legended(figure, _AROUND_PX + _ROW_PX * len(shown), "cycles", top_px=_TOP_PX)
    ends = [*filter(None, (*seen, *bound))]
    logarithmic = max(ends) > _WIDE * min(ends)
    figure.update_xaxes(type="log", dtick=1) if logarithmic else figure.update_xaxes(rangemode="tozero")
    # Who holds interrupts off.
    words = [str(section.caller or section.begin) for section in shown]
    labels = [escape(shorten(name, _MOST_LETTERS, placeholder="…"), quote=False) for name in words]
    figure.update_yaxes(autorange="reversed", tickvals=[*rows], ticktext=labels)
    return figure


def _priorities(rows: Sequence[AtPriority]) -> go.Figure:
    """A bar each, of the parts that add up."""
    labels = [f"{row.numbered} {', '.join(row.exceptions)}" for row in rows]
    parts = {
        "entry, caches": [row.entry + row.refill for row in rows],
        "the longest section": [row.section.cycles or 0 if row.section else 0 for row in rows],
    }
    for name in dict.fromkeys(handler.function for row in rows for handler in row.handlers):
        parts[name] = [sum(of.cycles or 0 for of in row.handlers if of.function == name) for row in rows]
    figure = go.Figure(
        [
            go.Bar(
                name=escape(name, quote=False),
                x=cycles,
                y=labels,
                orientation="h",
                marker_color=colour,
                hovertemplate="%{y}<br>%{x:,} cycles<extra>%{fullData.name}</extra>",
            )
            for (name, cycles), colour in zip(
                parts.items(), chain(["var(--off)"], cycle(SHADES)), strict=False
            )
        ]
    )
    legended(figure, _AROUND_PX + _ROW_PX * len(rows), "cycles", top_px=_TOP_PX)
    figure.update_layout(barmode="stack", bargap=0.25, legend_traceorder="normal")
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure


def _lines(report: BoundsReport, explanation: Explained) -> TextTable:
    """Of source lines the text, where the files are as the program was built of them."""
    blocks = explanation.blocks[:_MOST_ROWS]
    sources = Sources(report.subject.elf, report.subject.user.elf)
    text = sources.lines(line for block in blocks for line in block.lines[:_MOST_LINES])
    lines = tuple(
        (
            block.function,
            grouped(block.cycles),
            f"{block.share:.1%}",
            grouped(block.passes),
            _span(block),
            " ⏎ ".join(filter(None, map(text.get, block.lines[:_MOST_LINES]))) or MISSING,
        )
        for block in blocks
    )
    headings = ("block of", "cycles", "of all", "passes", "lines", "source")
    return TextTable(f"The longest path of {explanation.section}", headings, lines)


def _span(block: Block) -> str:
    """`net.c:8, 9, 12`."""
    files: dict[str, list[str]] = {}
    for line in block.lines:
        file, _, number = line.rpartition(":")
        files.setdefault(file, []).append(number)
    return "; ".join(f"{file}:{', '.join(numbers)}" for file, numbers in files.items()) or MISSING
