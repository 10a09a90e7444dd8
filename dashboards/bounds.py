"""The page of how long a program can hold interrupts off: `./lab bounds --output FILE.html`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from analysis.bounds.parts import Block, Frame
from analysis.explain.sources import Sources
from analysis.program.bounds.explained import Explained
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport
from analysis.program.bounds.text import calls_of, headline, of_report, remarks
from base.files.whole import write_bytes
from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, Trace, bar, scatter
from dashboards.formatting import MISSING, grouped
from dashboards.loaded.series import INK, MUTED, PAPER, SHADES
from dashboards.page.templates import TextGrid, sheet
from dashboards.parts import of_parts

_AROUND_PX, _ROW_PX = 120, 26
# Of sections, and of blocks, the page shows so many; the JSON has all.
_MOST_BARS, _MOST_ROWS = 24, 300
_MOST_LINES = 6
_WIDE = 10
_MOST_LETTERS = 48
_NO_WIDTH = "\u200b"


def charts(report: BoundsReport, explanation: Explained | None) -> Iterator[Chart]:
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
        yield Chart(
            "calls",
            "The longest path, by calls",
            f"{grouped(explanation.cycles)} cycles · {_named(explanation.section)} · {of_run}",
            "Each bar is what a function takes on this path with all that it calls, which stands below it. "
            "What nothing stands below is its own. Calls of less than 0.2 % are left out.",
            (),
            _calls(report, explanation),
        )


def _named(section: Bounded) -> str:
    return str(section).removeprefix(f"{section.kind}, raised by ")


def _rows(figure: Figure, rows: int, around_px: int = _AROUND_PX) -> Figure:
    style(figure, around_px + _ROW_PX * rows)
    figure.update_layout(barmode="stack", margin={"t": 44}, showlegend=True, bargap=0.25)
    figure.update_layout(legend={"traceorder": "normal"})
    figure.update_xaxes(title_text="cycles", rangemode="tozero")
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


def _labels(sections: Iterable[Bounded]) -> list[str]:
    """Who holds interrupts off. One for each, none twice: a figure has one row a label."""
    labels: list[str] = []
    for section in sections:
        words = str(section.caller or section.begin)
        words = f"{'~ ' * bool(section.presumed)}{words}"
        words = words if len(words) <= _MOST_LETTERS else f"{words[: _MOST_LETTERS - 1]}…"
        repeats = sum(label.rstrip(_NO_WIDTH) == words for label in labels)
        labels.append(f"{words}{_NO_WIDTH * repeats}")
    return [escape(words, quote=False) for words in labels]


def _sections(shown: Sequence[Bounded]) -> Figure:
    """A row each: a line from what was seen to the bound. If the shortest is a small share of the
    longest, the axis is of powers of ten.
    """
    labels = _labels(shown)
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
    style(figure, _AROUND_PX + _ROW_PX * len(shown))
    figure.update_layout(margin={"t": 44}, showlegend=True)
    cycles = [cycles for cycles, *_ in (*seen, *bounds) if cycles]
    figure.update_xaxes(title_text="cycles")
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
    return _rows(figure, len(labels))


def _calls(report: BoundsReport, explanation: Explained) -> Figure:
    """A bar a call, as wide as its cycles, below that of who calls."""
    bars: list[tuple[int, int, int, str, int]] = []

    def place(frames: Sequence[Frame], depth: int, begin: int) -> None:
        for frame in frames:
            bars.append((depth, begin, frame.cycles, report.subject.elf.place(frame.entry), frame.times))
            place(frame.inner, depth + 1, begin)
            begin += frame.cycles

    bars.append((0, 0, explanation.cycles, explanation.section.function, 1))
    place(explanation.frames, 1, 0)
    deepest = max(depth for depth, *_ in bars)
    figure = Figure(
        bar(
            x=[cycles for _, _, cycles, _, _ in bars],
            base=[begin for _, begin, _, _, _ in bars],
            y=[depth for depth, *_ in bars],
            orientation="h",
            text=[escape(name, quote=False) for *_, name, _ in bars],
            customdata=[f"{times:,} × " if times > 1 else "" for *_, times in bars],
            textposition="inside",
            insidetextanchor="start",
            insidetextfont={"size": 12, "color": PAPER},
            textangle=0,
            marker={
                "color": [SHADES[depth % len(SHADES)] for depth, *_ in bars],
                "line": {"width": 1, "color": PAPER},
            },
            hovertemplate="%{customdata}%{text}<br>%{x:,} cycles<extra></extra>",
        )
    )
    _rows(figure, deepest + 1, 90)
    figure.update_layout(
        showlegend=False, margin={"t": 12, "l": 18}, bargap=0.08, uniformtext={"mode": "hide", "minsize": 10}
    )
    figure.update_xaxes(range=[0, explanation.cycles])
    figure.update_yaxes(showticklabels=False, ticks="", tickfont={"color": MUTED}, linecolor=INK)
    return figure


def grids(report: BoundsReport, explanation: Explained | None) -> list[TextGrid]:
    """All tables; those of which there is nothing to say are left out."""
    tables = of_parts(of_report(report))
    if explanation is not None:
        tables += [_lines(report, explanation), *of_parts([calls_of(explanation)])]
    return tables


def _lines(report: BoundsReport, explanation: Explained) -> TextGrid:
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
    return TextGrid(f"The longest path of {explanation.section}", headings, lines, told=True)


def _span(block: Block) -> str:
    """`net.c:8, 9, 12`."""
    files: dict[str, list[str]] = {}
    for line in block.lines:
        file, _, number = line.rpartition(":")
        files.setdefault(file, []).append(number)
    return "; ".join(f"{file}:{', '.join(numbers)}" for file, numbers in files.items()) or MISSING


def write(report: BoundsReport, explanation: Explained | None, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(report, explanation).encode())


def html(report: BoundsReport, explanation: Explained | None) -> str:
    """The whole page, with the longest path of one section. Equal reports give equal text."""
    return sheet(
        "bounds.html",
        headline(report),
        [*remarks(report)],
        [*charts(report, explanation)],
        grids(report, explanation),
    )
