"""The pages of a program: what holds interrupts off in it (`./lab masks --output FILE.html`), and
for how long it can (`./lab bounds --output FILE.html`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from analysis.bounds.parts import Block, Frame
from analysis.explain.sources import Sources
from analysis.program.bounds import text as bounds_text
from analysis.program.bounds.explained import Explained
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport
from analysis.program.masks import text as masks_text
from analysis.program.masks.log import Interval
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.worst import name_of
from analysis.program.parts import few
from base.text_table import TextTable
from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, Trace, bar, scatter
from dashboards.formatting import MISSING, grouped
from dashboards.loaded.series import INK, MUTED, PAPER, SHADES, assign_styles
from dashboards.page.templates import sheet
from dashboards.parts import of_parts

_HEIGHT_PX = 420
_NS_PER_US = 1000
_NS_PER_MS = 1e6
# Of each curve, and of each kind in the timeline, at most about so many points are drawn.
MOST_POINTS = 1500

Tables = Mapping[str, Sequence[Interval]]


def of_masks(report: MaskReport) -> str:
    """The whole page of masks. Equal runs give equal text."""
    first, *others = masks_text.opening(report)
    parts = of_parts(masks_text.of_report(report))
    return sheet("masks.html", first, others, [*mask_charts(report)], parts)


def mask_charts(report: MaskReport) -> Iterator[Chart]:
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
        for row in report.priorities
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


def _by(pairs: Iterable[tuple[str, Interval]]) -> Tables:
    """The intervals that ended, by a word."""
    tables: dict[str, list[Interval]] = {}
    for name, it in pairs:
        if it.end_cycle is not None:
            tables.setdefault(name, []).append(it)
    return tables


def _styled(figure: Figure, abscissa: str, height_px: int = _HEIGHT_PX, top_px: int = 60) -> Figure:
    style(figure, height_px)
    figure.update_layout(margin={"t": top_px}, showlegend=True)
    figure.update_xaxes(title_text=abscissa)
    return figure


def _survival(tables: Tables) -> Figure:
    figure, looks = Figure(), assign_styles(tables)
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
    _styled(figure, "µs")
    figure.update_xaxes(type="log")
    figure.update_yaxes(title_text="share at or above", type="log", dtick=1, exponentformat="power")
    return figure


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
    figure, looks = Figure(), assign_styles(tables)
    for name, rows in tables.items():
        longest = longest_of_each_bin(rows, report.cycles)
        look = looks[name]
        figure.add(
            scatter(
                x=[report.clock.ns(it.begin_cycle) / _NS_PER_MS for it in longest],
                y=[(it.ns or 0.0) / _NS_PER_US for it in longest],
                customdata=[
                    (name_of(name, it.level, report.places), it.cycles, it.begin_cycle) for it in longest
                ],
                name=name,
                mode="markers",
                marker={"color": look.colour, "symbol": look.symbol, "size": 8, "opacity": 0.7},
                hovertemplate="%{customdata[0]}<br>%{customdata[1]:,} cycles, %{y:,.6~g} µs"
                "<br>from cycle %{customdata[2]:,}<extra></extra>",
            )
        )
    _styled(figure, "ms since reset")
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


_AROUND_PX, _ROW_PX, _TOP_PX = 120, 26, 44
# Of sections, and of blocks, the page shows so many; the JSON has all.
_MOST_BARS, _MOST_ROWS = 24, 300
_MOST_LINES = 6
_WIDE = 10
_MOST_LETTERS = 48
_NO_WIDTH = "\u200b"


def of_bounds(report: BoundsReport, explanation: Explained | None) -> str:
    """The whole page of bounds, with the longest path of one section. Equal reports give equal
    text.
    """
    tables = of_parts(bounds_text.of_report(report))
    if explanation is not None:
        tables += [_lines(report, explanation), *of_parts([bounds_text.calls_of(explanation)])]
    remarks, charts = [*bounds_text.remarks(report)], [*bound_charts(report, explanation)]
    return sheet("bounds.html", bounds_text.headline(report), remarks, charts, tables)


def bound_charts(report: BoundsReport, explanation: Explained | None) -> Iterator[Chart]:
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
            (),
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
            (),
            _priorities(priorities),
        )
    if explanation is not None:
        section = explanation.section
        named = str(section).removeprefix(f"{section.kind}, raised by ")
        yield Chart(
            "calls",
            "The longest path, by calls",
            f"{grouped(explanation.cycles)} cycles · {named} · {of_run}",
            "Each bar is what a function takes on this path with all that it calls, which stands below it. "
            "What nothing stands below is its own. Calls of less than 0.2 % are left out.",
            (),
            _calls(report, explanation),
        )


def _sections(shown: Sequence[Bounded]) -> Figure:
    """A row each: a line from what was seen to the bound. If the shortest is a small share of the
    longest, the axis is of powers of ten.
    """
    # Who holds interrupts off. One for each, none twice: a figure has one row a label.
    names: list[str] = []
    for section in shown:
        words = f"{'~ ' * bool(section.presumed)}{section.caller or section.begin}"
        words = words if len(words) <= _MOST_LETTERS else f"{words[: _MOST_LETTERS - 1]}…"
        names.append(f"{words}{_NO_WIDTH * sum(name.rstrip(_NO_WIDTH) == words for name in names)}")
    labels = [escape(name, quote=False) for name in names]
    bounds = [(section.cycles, label, section) for label, section in zip(labels, shown, strict=True)]
    seen = [(section.seen, label, section) for _, label, section in bounds if section.seen]
    ends = [(end, label) for cycles, label, section in seen for end in (cycles, section.cycles, None)]
    figure = Figure(
        scatter(
            name="slack",
            x=[cycles for cycles, _ in ends],
            y=[label for _, label in ends],
            mode="lines",
            line={"color": "var(--off)", "width": 3},
            hoverinfo="skip",
        ),
        _points("seen", seen, {"color": SHADES[0], "symbol": "circle", "size": 9}, 0),
        _points("bound", bounds, {"color": INK, "symbol": "line-ns-open", "size": 14}, 3),
    )
    _styled(figure, "cycles", _AROUND_PX + _ROW_PX * len(shown), _TOP_PX)
    cycles = [cycles for cycles, *_ in (*seen, *bounds) if cycles]
    if max(cycles) > _WIDE * min(cycles):
        figure.update_xaxes(type="log", dtick=1)
    else:
        figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=labels[::-1], showgrid=True)
    return figure


def _points(
    name: str, rows: Sequence[tuple[int | None, str, Bounded]], marker: dict[str, object], width: int
) -> Trace:
    return scatter(
        name=name,
        x=[cycles for cycles, *_ in rows],
        y=[label for _, label, _ in rows],
        mode="markers",
        marker={**marker, "line": {"width": width, "color": marker["color"]}},
        customdata=[str(section) for *_, section in rows],
        hovertemplate="%{customdata}<br>%{x:,} cycles<extra>%{fullData.name}</extra>",
    )


def _stacked(figure: Figure, rows: int, around_px: int = _AROUND_PX) -> Figure:
    _styled(figure, "cycles", around_px + _ROW_PX * rows, _TOP_PX)
    figure.update_layout(barmode="stack", bargap=0.25, legend={"traceorder": "normal"})
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure


def _bars(name: str, cycles: Sequence[int], labels: Sequence[str], colour: str) -> Trace:
    return bar(
        name=escape(name, quote=False),
        x=list(cycles),
        y=list(labels),
        orientation="h",
        marker={"color": colour},
        hovertemplate="%{y}<br>%{x:,} cycles<extra>%{fullData.name}</extra>",
    )


def _priorities(rows: Sequence[AtPriority]) -> Figure:
    """A bar each, of the parts that add up."""
    labels = [f"{'~ ' * row.estimate}{row.numbered} {', '.join(row.exceptions)}" for row in rows]
    sections = [row.section.cycles or 0 if row.section else 0 for row in rows]
    words = [f"the longest section: {row.section}" if row.section else "" for row in rows]
    figure = Figure(
        _bars("entry, caches", [row.entry + row.refill for row in rows], labels, "var(--off)"),
        _bars("the longest section", sections, labels, SHADES[0])
        | {"customdata": words, "hovertemplate": "%{customdata}<br>%{x:,} cycles<extra></extra>"},
    )
    names = dict.fromkeys(handler.function for row in rows for handler in row.handlers)
    for number, name in enumerate(names):
        cycles = [sum(of.cycles or 0 for of in row.handlers if of.function == name) for row in rows]
        figure.add(_bars(name, cycles, labels, SHADES[1 + number % (len(SHADES) - 1)]))
    return _stacked(figure, len(labels))


def _calls(report: BoundsReport, explanation: Explained) -> Figure:
    """A bar a call, as wide as its cycles, below that of who calls."""
    bars = [(0, 0, explanation.cycles, explanation.section.function, 1)]

    def place(frames: Sequence[Frame], depth: int, begin: int) -> None:
        for frame in frames:
            bars.append((depth, begin, frame.cycles, report.subject.elf.place(frame.entry), frame.times))
            place(frame.inner, depth + 1, begin)
            begin += frame.cycles

    place(explanation.frames, 1, 0)
    depths, begins, widths, names, counts = zip(*bars, strict=True)
    figure = Figure(
        bar(
            x=[*widths],
            base=[*begins],
            y=[*depths],
            orientation="h",
            text=[escape(name, quote=False) for name in names],
            customdata=[f"{times:,} × " if times > 1 else "" for times in counts],
            textposition="inside",
            insidetextanchor="start",
            insidetextfont={"size": 12, "color": PAPER},
            textangle=0,
            marker={
                "color": [SHADES[depth % len(SHADES)] for depth in depths],
                "line": {"width": 1, "color": PAPER},
            },
            hovertemplate="%{customdata}%{text}<br>%{x:,} cycles<extra></extra>",
        )
    )
    _stacked(figure, max(depths) + 1, 90)
    figure.update_layout(
        showlegend=False, margin={"t": 12, "l": 18}, bargap=0.08, uniformtext={"mode": "hide", "minsize": 10}
    )
    figure.update_xaxes(range=[0, explanation.cycles])
    figure.update_yaxes(showticklabels=False, ticks="", tickfont={"color": MUTED}, linecolor=INK)
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
