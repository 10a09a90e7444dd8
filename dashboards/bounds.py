"""The page of how long a program can hold interrupts off: `./lab bounds --output FILE.html`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from analysis.bounds.masks import HANDLER
from analysis.bounds.parts import Frame
from analysis.program.bounds.explained import Block, Explained
from analysis.program.bounds.measure import Bounded, BoundsReport
from analysis.program.bounds.text import headline, presumes, where
from base.files.whole import write_bytes
from dashboards.figures.chart import Chart, style
from dashboards.figures.figure import Figure, Trace, bar, scatter
from dashboards.formatting import MISSING, grouped, microseconds
from dashboards.loaded.series import INK, MUTED, PAPER, SHADES
from dashboards.page.templates import TextGrid, sheet

_NS_PER_S = 1e9
_AROUND_PX, _ROW_PX = 120, 26
# Of sections, and of blocks, the page shows so many; the JSON has all.
_MOST_BARS, _MOST_ROWS = 24, 300
_MOST_LINES = 6
_WIDE = 10
_MOST_LETTERS = 48
_NO_WIDTH, _FIXED = "\u200b", "\u00a0"


def charts(found: BoundsReport, told: Explained | None) -> list[Chart]:
    """All figures of which there are values."""
    return list(_charts(found, told))


def _charts(found: BoundsReport, told: Explained | None) -> Iterator[Chart]:
    bounded = [one for one in found.all if one.cycles is not None]
    of_run = f"{found.program.elf.name}, {found.costs.wait_states} wait states, virtual board"
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
    priorities = [one for one in found.priorities if one.cycles is not None]
    if priorities:
        yield Chart(
            "priorities",
            "How long an interrupt of a priority can be held off",
            f"{len(priorities)} of {len(found.priorities)} priorities that the run used · {of_run}",
            "The parts add up: the interrupt's own entry, the longest section, and each handler that goes "
            "before it, once.",
            (),
            _priorities(found),
        )
    if told is not None:
        yield Chart(
            "calls",
            "The longest path, by calls",
            f"{grouped(told.cycles)} cycles · {_named(told.section)} · {of_run}",
            "Each bar is what a function takes on this path with all that it calls, which stands below it. "
            "What nothing stands below is its own. Calls of less than 0.2 % are left out.",
            (),
            _calls(found, told),
        )


def _kind(one: Bounded) -> str:
    """`basepri 0x50`; of any level where that is not known."""
    return where(one).partition(",")[0] if one.kind != HANDLER else HANDLER


def _named(one: Bounded) -> str:
    return where(one).removeprefix(f"{one.kind}, raised by ")


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


def _labels(ones: Iterable[Bounded]) -> list[str]:
    """Who holds interrupts off. One for each, none twice: a figure has one row a label."""
    told: list[str] = []
    for one in ones:
        words = str(one.caller or one.begin)
        words = f"{'~ ' * bool(one.presumed)}{words}"
        words = words if len(words) <= _MOST_LETTERS else f"{words[: _MOST_LETTERS - 1]}…"
        known = sum(label.rstrip(_NO_WIDTH) == words for label in told)
        told.append(f"{words}{_NO_WIDTH * known}")
    return [escape(words, quote=False) for words in told]


def _sections(shown: Sequence[Bounded]) -> Figure:
    """A row each: a line from what was seen to the bound. If the shortest is a small share of the
    longest, the axis is of powers of ten.
    """
    labels = _labels(shown)
    rows = [(label, one) for label, one in zip(labels, shown, strict=True) if one.seen]
    between: list[tuple[int | None, str]] = []
    for label, one in rows:
        between += [(one.seen, label), (one.cycles, label), (None, label)]
    figure = Figure(
        scatter(
            name="slack",
            x=[cycles for cycles, _ in between],
            y=[label for _, label in between],
            mode="lines",
            line={"color": "var(--off)", "width": 3},
            hoverinfo="skip",
        ),
        _points("seen", [(label, one.seen or 0) for label, one in rows], rows, SHADES[0], "circle"),
        _points(
            "bound",
            [(label, one.cycles or 0) for label, one in zip(labels, shown, strict=True)],
            list(zip(labels, shown, strict=True)),
            INK,
            "line-ns-open",
        ),
    )
    style(figure, _AROUND_PX + _ROW_PX * len(shown))
    figure.update_layout(margin={"t": 44}, showlegend=True)
    all_cycles = [cycles for one in shown for cycles in (one.seen, one.cycles) if cycles]
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
        customdata=[where(one) for _, one in rows],
        hovertemplate="%{customdata}<br>%{x:,} cycles<extra>%{fullData.name}</extra>",
    )


def _priorities(found: BoundsReport) -> Figure:
    told = [one for one in found.priorities if one.cycles is not None]
    labels = [f"{'~ ' * one.is_estimate}{one.priority:#04x} {', '.join(one.exceptions)}" for one in told]
    figure = Figure(_bars("entry, caches", [one.entry + one.refill for one in told], labels, "var(--off)"))
    sections = [one.section.cycles or 0 if one.section else 0 for one in told]
    words = [f"the longest section: {where(one.section)}" if one.section else "" for one in told]
    figure.add(
        _bars("the longest section", sections, labels, SHADES[0])
        | {"customdata": words, "hovertemplate": "%{customdata}<br>%{x:,} cycles<extra></extra>"}
    )
    names = list(dict.fromkeys(handler.function for one in told for handler in one.handlers))
    for number, name in enumerate(names):
        cycles = [
            sum(handler.cycles or 0 for handler in one.handlers if handler.function == name) for one in told
        ]
        figure.add(_bars(name, cycles, labels, SHADES[1 + number % (len(SHADES) - 1)]))
    return _rows(figure, len(labels))


def _calls(found: BoundsReport, told: Explained) -> Figure:
    """A bar a call, as wide as its cycles, below that of who calls."""
    bars: list[tuple[int, int, int, str, int]] = []

    def place(frame: Frame, depth: int, begin: int) -> None:
        bars.append((depth, begin, frame.cycles, found.code.place(frame.entry), frame.times))
        for inner in frame.inner:
            place(inner, depth + 1, begin)
            begin += inner.cycles

    bars.append((0, 0, told.cycles, told.section.function, 1))
    begin = 0
    for frame in told.frames:
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
    figure.update_xaxes(range=[0, told.cycles])
    figure.update_yaxes(showticklabels=False, ticks="", tickfont={"color": MUTED}, linecolor=INK)
    return figure


def grids(found: BoundsReport, told: Explained | None) -> list[TextGrid]:
    """All tables; those of which there is nothing to say are left out."""
    made = [
        _bounded(found),
        _unbounded(found),
        _missing(found),
        _presumed(found),
        _by_priority(found),
        *([_lines(found, told), _called(told)] if told is not None else []),
    ]
    return [grid for grid in made if grid.lines]


def _time(found: BoundsReport, cycles: int) -> str:
    return microseconds(cycles / found.hz * _NS_PER_S).replace(" ", _FIXED)


def _seen(one: Bounded) -> str:
    return grouped(one.seen) if one.seen else "interrupted" if one.count else f"never{_FIXED}run"


def _share(one: Bounded) -> str:
    if not one.seen or not one.cycles:
        return MISSING
    return f"{one.seen / one.cycles:.0%}" if 100 * one.seen >= one.cycles else "< 1%"


def _who(one: Bounded) -> tuple[str, str]:
    """What raises it, and what calls that."""
    return str(one.begin), str(one.caller or MISSING)


def _bounded(found: BoundsReport) -> TextGrid:
    lines = tuple(
        (
            _kind(one),
            f"{'~' * bool(one.presumed)}{grouped(one.cycles)}",
            _time(found, one.cycles),
            _seen(one),
            _share(one),
            grouped(one.cycles - one.seen) if one.seen else MISSING,
            grouped(one.count),
            *_who(one),
        )
        for one in found.all
        if one.cycles is not None
    )
    headings = ("kind", "bound", "", "seen", "of it", "slack", "×", "raised by, or handler", "called by")
    return TextGrid("Bounds, in cycles", headings, lines[:_MOST_ROWS], told=True)


def _unbounded(found: BoundsReport) -> TextGrid:
    lines = tuple((_kind(one), _seen(one), *_who(one), _why(one)) for one in found.all if one.cycles is None)
    headings = ("kind", "seen", "raised by, or handler", "called by", "why")
    return TextGrid("Without a bound", headings, lines[:_MOST_ROWS], told=True)


def _why(one: Bounded) -> str:
    first, *more = one.why_not
    return f"{first} And {len(more)} more." if more else first


def _missing(found: BoundsReport) -> TextGrid:
    lines = tuple((word, grouped(count)) for word, count in found.missing.items())
    return TextGrid("What is missing, and how many it stops", ("what", "×"), lines[:_MOST_ROWS], told=True)


def _presumed(found: BoundsReport) -> TextGrid:
    lines = tuple(
        (
            one.loop.place,
            one.loop.body.name,
            grouped(one.passes),
            grouped(one.taken),
            grouped(one.entries),
            grouped(one.cycles),
        )
        for one in found.counted
    )
    headings = ("loop", "in", "most passes seen", "taken", "times entered", "in cycles of the run")
    return TextGrid("Loops that estimates rest on", headings, lines, told=True)


def _by_priority(found: BoundsReport) -> TextGrid:
    lines = []
    for one in found.priorities:
        refill = f"caches read anew {grouped(one.refill)}" if one.refill else ""
        section = f"{where(one.section)}: {grouped(one.section.cycles)}" if one.section else ""
        handlers = (f"{other.function} {grouped(other.cycles)}" for other in one.handlers)
        without = (f"{len(one.missing)} without a bound",) if one.missing else ()
        lines.append(
            (
                f"{one.priority:#04x}",
                ", ".join(one.exceptions),
                f"{'~' * one.is_estimate}{grouped(one.cycles)}",
                MISSING if one.cycles is None else _time(found, one.cycles),
                grouped(one.seen),
                " + ".join(filter(None, (f"entry {one.entry}", refill, section, *handlers, *without))),
            )
        )
    headings = ("priority", "interrupts", "bound", "", "seen", "made of")
    return TextGrid("By priority, in cycles", headings, tuple(lines), told=True)


def _lines(found: BoundsReport, told: Explained) -> TextGrid:
    sources = _Sources(found.code.source_files)
    lines = tuple(
        (
            one.function,
            grouped(one.cycles),
            f"{told.share(one.cycles):.1%}",
            grouped(one.passes),
            _span(one),
            " ⏎ ".join(filter(None, map(sources.line, one.lines[:_MOST_LINES]))) or MISSING,
        )
        for one in told.blocks[:_MOST_ROWS]
    )
    headings = ("block of", "cycles", "of all", "passes", "lines", "source")
    return TextGrid(f"The longest path of {where(told.section)}", headings, lines, told=True)


def _span(one: Block) -> str:
    """`net.c:8, 9, 12`."""
    files: dict[str, list[str]] = {}
    for line in one.lines:
        file, _, number = line.rpartition(":")
        files.setdefault(file, []).append(number)
    return "; ".join(f"{file}:{', '.join(numbers)}" for file, numbers in files.items()) or MISSING


def _called(told: Explained) -> TextGrid:
    lines = tuple(
        (
            one.caller,
            one.callee,
            one.line,
            grouped(one.times),
            grouped(one.cycles),
            f"{told.share(one.cycles):.1%}",
        )
        for one in told.calls[:_MOST_ROWS]
    )
    headings = ("caller", "calls", "at", "times", "cycles", "of all")
    return TextGrid("Its calls", headings, lines, told=True)


class _Sources:
    """The lines of source files, as far as these lie where the debug information says."""

    def __init__(self, files: dict[str, Path]) -> None:
        self._files = files
        self._known: dict[str, list[str]] = {}

    def line(self, name: str) -> str:
        """The text of `file.c:12`; empty if it is not to be had."""
        file, _, number = name.rpartition(":")
        if file not in self._known:
            self._known[file] = self._read(self._files.get(file))
        lines = self._known[file]
        return lines[int(number) - 1].strip() if int(number) <= len(lines) else ""

    def _read(self, path: Path | None) -> list[str]:
        try:
            return path.read_text(errors="replace").splitlines() if path else []
        except OSError:
            return []


def write(found: BoundsReport, told: Explained | None, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(found, told).encode())


def html(found: BoundsReport, told: Explained | None) -> str:
    """The whole page, with the longest path of one section. Equal reports give equal text."""
    remarks = [presumes(found)]
    if found.estimates:
        remarks.append(
            f"~ is an estimate, and no bound: it rests on what the run saw of loops, times {found.margin:g}."
        )
    if found.violations:
        remarks.insert(0, f"{len(found.violations)} took longer than their bound: a bound is wrong.")
    return sheet("bounds.html", headline(found), remarks, charts(found, told), grids(found, told))
