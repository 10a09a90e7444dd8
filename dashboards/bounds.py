"""The page of how long a program can hold interrupts off: `./lab bounds --output FILE.html`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from analysis.bounds.parts import Frame
from analysis.program.bounds.explained import Block, Explained
from analysis.program.bounds.measure import Bounded, BoundsReport
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


def charts(report: BoundsReport, explanation: Explained | None) -> list[Chart]:
    """All figures of which there are values."""
    return list(_charts(report, explanation))


def _charts(report: BoundsReport, explanation: Explained | None) -> Iterator[Chart]:
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
            _priorities(report),
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
    rows = [(label, section) for label, section in zip(labels, shown, strict=True) if section.seen]
    between: list[tuple[int | None, str]] = []
    for label, section in rows:
        between += [(section.seen, label), (section.cycles, label), (None, label)]
    figure = Figure(
        scatter(
            name="slack",
            x=[cycles for cycles, _ in between],
            y=[label for _, label in between],
            mode="lines",
            line={"color": "var(--off)", "width": 3},
            hoverinfo="skip",
        ),
        _points("seen", [(label, section.seen or 0) for label, section in rows], rows, SHADES[0], "circle"),
        _points(
            "bound",
            [(label, section.cycles or 0) for label, section in zip(labels, shown, strict=True)],
            list(zip(labels, shown, strict=True)),
            INK,
            "line-ns-open",
        ),
    )
    style(figure, _AROUND_PX + _ROW_PX * len(shown))
    figure.update_layout(margin={"t": 44}, showlegend=True)
    all_cycles = [cycles for section in shown for cycles in (section.seen, section.cycles) if cycles]
    if max(all_cycles) > _WIDE * min(all_cycles):
        figure.update_xaxes(title_text="cycles", type="log", dtick=1)
    else:
        figure.update_xaxes(title_text="cycles", rangemode="tozero")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=labels[::-1], showgrid=True)
    return figure


def _points(
    name: str,
    values: Sequence[tuple[str, int]],
    rows: Sequence[tuple[str, Bounded]],
    colour: str,
    symbol: str,
) -> Trace:
    return scatter(
        name=name,
        x=[cycles for _, cycles in values],
        y=[label for label, _ in values],
        mode="markers",
        marker={
            "color": colour,
            "symbol": symbol,
            "size": 9 if symbol == "circle" else 14,
            "line": {"width": 3 if symbol != "circle" else 0, "color": colour},
        },
        customdata=[str(section) for _, section in rows],
        hovertemplate="%{customdata}<br>%{x:,} cycles<extra>%{fullData.name}</extra>",
    )


def _priorities(report: BoundsReport) -> Figure:
    priorities = [priority for priority in report.used_priorities if priority.cycles is not None]
    labels = [
        f"{'~ ' * priority.estimate}{priority.numbered} {', '.join(priority.exceptions)}"
        for priority in priorities
    ]
    figure = Figure(
        _bars(
            "entry, caches",
            [priority.entry + priority.refill for priority in priorities],
            labels,
            "var(--off)",
        )
    )
    sections = [priority.section.cycles or 0 if priority.section else 0 for priority in priorities]
    words = [
        f"the longest section: {priority.section}" if priority.section else "" for priority in priorities
    ]
    figure.add(
        _bars("the longest section", sections, labels, SHADES[0])
        | {"customdata": words, "hovertemplate": "%{customdata}<br>%{x:,} cycles<extra></extra>"}
    )
    names = list(dict.fromkeys(handler.function for priority in priorities for handler in priority.handlers))
    for number, name in enumerate(names):
        cycles = [
            sum(handler.cycles or 0 for handler in priority.handlers if handler.function == name)
            for priority in priorities
        ]
        figure.add(_bars(name, cycles, labels, SHADES[1 + number % (len(SHADES) - 1)]))
    return _rows(figure, len(labels))


def _calls(report: BoundsReport, explanation: Explained) -> Figure:
    """A bar a call, as wide as its cycles, below that of who calls."""
    bars: list[tuple[int, int, int, str, int]] = []

    def place(frame: Frame, depth: int, begin: int) -> None:
        bars.append((depth, begin, frame.cycles, report.subject.elf.place(frame.entry), frame.times))
        for inner in frame.inner:
            place(inner, depth + 1, begin)
            begin += inner.cycles

    bars.append((0, 0, explanation.cycles, explanation.section.function, 1))
    begin = 0
    for frame in explanation.frames:
        place(frame, 1, begin)
        begin += frame.cycles
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
    sources = _Sources(report.subject.elf.source_files)
    lines = tuple(
        (
            block.function,
            grouped(block.cycles),
            f"{block.share:.1%}",
            grouped(block.passes),
            _span(block),
            " ⏎ ".join(filter(None, map(sources.line, block.lines[:_MOST_LINES]))) or MISSING,
        )
        for block in explanation.blocks[:_MOST_ROWS]
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


class _Sources:
    """The lines of source files, as far as these lie where the debug information says."""

    def __init__(self, files: dict[str, Path]) -> None:
        self._files = files
        self._lines: dict[str, list[str]] = {}

    def line(self, name: str) -> str:
        """The text of `file.c:12`; empty if it is not to be had."""
        file, _, number = name.rpartition(":")
        if file not in self._lines:
            self._lines[file] = self._read(self._files.get(file))
        lines = self._lines[file]
        return lines[int(number) - 1].strip() if int(number) <= len(lines) else ""

    def _read(self, path: Path | None) -> list[str]:
        try:
            return path.read_text(errors="replace").splitlines() if path else []
        except OSError:
            return []


def write(report: BoundsReport, explanation: Explained | None, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(report, explanation).encode())


def html(report: BoundsReport, explanation: Explained | None) -> str:
    """The whole page, with the longest path of one section. Equal reports give equal text."""
    return sheet(
        "bounds.html",
        headline(report),
        [*remarks(report)],
        charts(report, explanation),
        grids(report, explanation),
    )
