"""The tables of several boards, for a terminal and a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.compare.boards.across import Across, Group, OnBoard, Worst
from analysis.compare.rows import Rows
from analysis.compare.text import printed
from base.microseconds import digits
from base.run_folder.edges import NS_PER_S

MISSING = "–"
NO_CONTROL = "none"
_LATENCY = "interrupt latency"
MEANING = (
    "No board is better than another: cycles say what the core had to do, µs how long it took. Cycles are "
    "the counter's, or the wire's where nothing counts. ± is the error budget; the resolution is one "
    "sample. The slope is that of a line through all allocations that no interrupt met; its ± is the most "
    "that their distances from the line can have turned it, no confidence interval."
)


def of_boards(lines: Sequence[OnBoard]) -> Rows:
    """A line for each board: core, clock, and how soon an interrupt is answered."""
    headings = (
        *("board", "core", "clock (MHz)", "wait states", "CLZ", "cycle counter", "control interrupt"),
        *(
            "entry by the manual (cycles)",
            "entry in µs",
            "answer when idle (cycles)",
            "answer in µs",
            "n",
            "run",
        ),
    )
    return Rows("Boards", headings, tuple(map(_board, lines)), frozenset((2, 3, 7, 8, 9, 10, 11)))


def _board(line: OnBoard) -> tuple[str, ...]:
    figures, core = line.figures, line.core
    hz = figures.core_hz
    entry = (
        (f"{core.entry_cycles}", digits(core.entry_cycles * NS_PER_S / hz)) if core else (MISSING, MISSING)
    )
    return (
        line.title,
        core.title if core else MISSING,
        f"{hz / 1e6:g}",
        MISSING if figures.wait_states is None else f"{figures.wait_states}",
        _yes(core.clz if core else None),
        _counter(line),
        NO_CONTROL if figures.control is None else "yes",
        *entry,
        *_cycles_and_us(figures.answer),
        MISSING if figures.answer is None else f"{figures.answer.n:,}",
        line.run,
    )


def _counter(line: OnBoard) -> str:
    """`DWT`, or what stands in for it."""
    if line.core is None or line.core.counter:
        return line.counter
    return f"none: {line.counter} stands in"


def of_sections(group: Group) -> Rows:
    """The worst critical sections of an allocation and of a free, and the worst wait."""
    headings = (
        *("worst of", "board", "cycles", "counted by", "µs", "± µs", "n"),
        *("resolution (µs)", "operation", "run"),
    )
    return Rows(group.title, headings, tuple(_sections(group)), frozenset((2, 4, 5, 6, 7, 8)))


def _sections(group: Group) -> Iterator[tuple[str, ...]]:
    for words, name in (("allocation", "allocate"), ("free", "free"), (_LATENCY, "interrupt")):
        pairs: list[tuple[OnBoard, Worst | None]] = [
            (line, getattr(line.figures, name)) for line in group.lines
        ]
        if any(worst for _, worst in pairs):
            yield from (_section(words, line, worst) for line, worst in pairs)


def _section(words: str, line: OnBoard, worst: Worst | None) -> tuple[str, ...]:
    if worst is None:
        return (words, line.name, *([MISSING] * 7), line.run)
    by = line.counter if worst.counted else "wire"
    return (
        words,
        line.name,
        *_cycles_and_us(worst, whole=worst.counted)[:1],
        by,
        digits(worst.ns),
        MISSING if worst.budget_ns is None else digits(worst.budget_ns),
        f"{worst.n:,}",
        _fine(line.figures.resolution_ns),
        MISSING if worst.seq is None else f"{worst.seq:,}",
        line.run,
    )


def of_growth(groups: Sequence[Group]) -> Rows:
    """A line for each run whose scenario is a ramp: the slope per freed block."""
    headings = (
        *("slope per freed block of", "board", "cycles", "± cycles", "µs", "± µs", "n"),
        *("resolution (µs)", "run"),
    )
    lines = tuple(
        (
            group.title,
            line.name,
            signed(growth.cycles, 2),
            signed(growth.cycles_uncertainty, 2),
            _fine(growth.ns),
            _fine(growth.ns_uncertainty),
            f"{growth.n:,}",
            _fine(line.figures.resolution_ns),
            line.run,
        )
        for group in groups
        for line in group.lines
        if (growth := line.figures.growth) is not None
    )
    return Rows("Slope per freed block", headings, lines, frozenset(range(2, 8)))


def every(boards: Across) -> list[Rows]:
    """All tables that have a line."""
    tables = [of_boards(boards.boards), *map(of_sections, boards.groups), of_growth(boards.groups)]
    return [rows for rows in tables if rows.lines]


def headline(group: Group) -> str:
    """`mem_frag on tlsf, …: Nucleo-F401RE 534 cycles, 6.40 µs; Nucleo-F411RE 465 cycles, …`."""
    sentences = [
        f"{line.title} {worst.cycles:,.0f} cycles, {digits(worst.ns)} µs"
        for line in group.lines
        if (worst := line.figures.allocate) is not None
    ]
    return f"{group.title}, the longest section of an allocation: {'; '.join(sentences)}."


def _cycles_and_us(worst: Worst | None, *, whole: bool = False) -> tuple[str, str]:
    if worst is None:
        return MISSING, MISSING
    return f"{worst.cycles:,.0f}" if whole else f"{worst.cycles:,.1f}", digits(worst.ns)


def _fine(ns: float) -> str:
    """In µs with four decimals, of what is less than a cycle or a few of them."""
    return signed(ns / 1000, 4)


def signed(value: float, decimals: int) -> str:
    """A number with its sign, and none of what rounds to nothing."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def _yes(there: bool | None) -> str:
    return MISSING if there is None else "yes" if there else "none"


# Several boards side by side, for the terminal.


def as_text(boards: Across) -> str:
    """A sentence for each group, the tables, and what is left out."""
    remarks = [group.remark for group in boards.groups if group.remark]
    return printed([*map(headline, boards.groups), *remarks, *every(boards), "", MEANING, *boards.left_out])
