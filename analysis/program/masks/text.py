"""The report of masks as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.explain import execution
from analysis.explain.execution import Step
from analysis.program.masks.intervals import KINDS
from analysis.program.masks.measure import AtPriority, MaskReport
from analysis.program.masks.places import Places
from analysis.program.masks.worst import Worst, name_of
from base.metrology.quantiles import Number, Summary, summarise
from base.microseconds import UNIT, digits

_WIDTH_COLUMNS = 120
_SHOWN = 10
_SHOWN_TOTALS = 8
_SHOWN_FRAMES = 8


HEADING_OF_NOTES = "Noted and gone on with: what the manual does not allow, or is not modelled"


def as_text(report: MaskReport) -> str:
    """A headline, the kinds, the longest by place, and what each priority waits for."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(*opening(report), sep="\n", soft_wrap=True)
        for part in _parts(report):
            for line in ("", *part):
                console.print(line, soft_wrap=isinstance(line, str))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def opening(report: MaskReport) -> list[str]:
    """The sentences that come first: that it stopped, if it did; the headline; and the notes."""
    first = [report.stop.sentence] if report.stop else []
    return [*first, headline(report), *start_up(report), *report.notes[len(first) :]]


def headline(report: MaskReport) -> str:
    """The program, how long it ran, and the longest interval of all from the beginning on."""
    ran = f"{report.program.elf.name}, {report.cycles:,} cycles"
    beginning = report.beginning
    after = ""
    if beginning.first_cycle:
        after = f"from {beginning.asked.where} on, " if beginning.asked.time else "after start-up "
    longest = report.longest
    if longest is None:
        return f"{ran}: {after}no interval that held interrupts off has ended."
    return f"{ran}: {after}the longest interval is {length(longest)}, {longest.name}, {who(longest)}."


def start_up(report: MaskReport) -> list[str]:
    """What is left out of the headline, and why; nothing where all of the run was asked for."""
    beginning = report.beginning
    request = beginning.asked
    why = f" ({request.why})" if request.why else ""
    if not beginning.seen:
        return [f"All of the run counts: it ended before {request.where}{why}."]
    if not beginning.first_cycle:
        return [f"All of the run counts, from reset on{why}."] if why else []
    at_ns = float(report.clock.ns([beginning.first_cycle])[0])
    text = (
        f"Start-up: the {beginning.first_cycle:,} cycles ({microseconds(at_ns)}) until {request.where}{why}, "
        "left out of all that follows"
    )
    if report.start_up is None or not report.start_up.worst:
        return [f"{text}; no interval of it has ended."]
    longest = report.start_up.worst[0]
    return [f"{text}; its longest interval is {length(longest)}, {longest.name}, {who(longest)}."]


def length(worst: Worst) -> str:
    """`1,001 cycles (62.56 µs)`."""
    return "still open" if worst.ns is None else f"{worst.cycles:,} cycles ({microseconds(worst.ns)})"


def microseconds(ns: Number | None) -> str:
    """Nanoseconds in microseconds, with two decimals; empty where there are none."""
    return "" if ns is None else f"{digits(ns)}\N{NO-BREAK SPACE}{UNIT}"


def _parts(report: MaskReport) -> Iterator[Sequence[str | Table]]:
    kinds = _kinds(report)
    if kinds.row_count:
        yield "Intervals, by kind, in cycles", kinds
    if report.worst:
        shown = [line for worst in report.worst[:_SHOWN] for line in _worst(worst)]
        yield "The longest at each place, and how many there were", *shown, *_left_out(report)
        yield "Call stack of the longest", *_stack(report.worst[0])
    if report.still_open:
        yield "Still open at the end, and not counted", *(_open(worst) for worst in report.still_open)
    if report.kernel and report.idle_cycles:
        share = f"{report.idle_cycles / report.counted_cycles:.1%}"
        yield f"Idle in {share} of the cycles: {report.kernel.name}'s idle task ran, or the core slept", ""
    if report.used_priorities:
        yield "Not taken, by priority: everything that holds such an interrupt off", _priorities(report)
    if report.run.stats.notes:
        yield HEADING_OF_NOTES, *(f"  {note}" for note in report.run.stats.notes)
    for kind, steps in report.steps.items():
        yield f"Instructions of the longest {kind}", *_explained(steps)


def _kinds(report: MaskReport) -> Table:
    table = _table("kind")
    for name in ("count", "min", "median", "p99", "max", "", "total"):
        table.add_column(name, justify="right")
    for kind in KINDS:
        rows = report.intervals.filter(pl.col("cycles").is_not_null(), kind=kind)
        for level in rows["level"].unique().sort().to_list():
            of = rows.filter(pl.col("level").eq_missing(level))
            _add(table, name_of(kind, level, report.places), of, f"{report.share(of):.1%}")
    return table


def _add(table: Table, name: str, rows: pl.DataFrame, share: str) -> None:
    summary = summarise(rows["cycles"].to_numpy())
    longest = microseconds(rows["ns"].max())  # type: ignore[arg-type]
    table.add_row(Text(name), f"{summary.n:,}", *_statistics(summary), longest, share)


def _statistics(summary: Summary) -> list[str]:
    values = (summary.min, summary.median, summary.p99, summary.max)
    return ["-" if value is None else f"{value:,}" for value in values]


def _worst(worst: Worst) -> list[str]:
    task = f", in task {worst.task}" if worst.task else ""
    return [
        f"  {worst.cycles:>10,} {microseconds(worst.ns):>12} {worst.count:>8,}×  {worst.name}{task}",
        f"      {who(worst)}",
        *([f"      {waited_for_flash(worst)}"] if worst.stalled_cycles else []),
    ]


def waited_for_flash(worst: Worst) -> str:
    """What the flash has to do with the length of an interval."""
    cycles = worst.stalled_cycles
    return f"for {cycles:,} of these cycles the core waited for the flash: it was written or erased"


def who(worst: Worst) -> str:
    """Who raised an interval, and who ended it."""
    start, ended = ("", "ended in") if worst.kind == "handler" else ("raised by ", "ended by")
    verb = (
        "interrupted"
        if worst.kind == "handler" or (worst.caller and worst.caller.interrupted)
        else "called by"
    )
    caller = f", {verb} {worst.caller}" if worst.caller else ""
    lock = f"{worst.lock} in " if worst.lock else ""
    return f"{start}{lock}{worst.begin}{caller}; {ended} {worst.end}"


def _left_out(report: MaskReport) -> list[str]:
    more = len(report.worst) - _SHOWN
    return [f"and {more:,} more places (--json or --output FILE.html has all)"] if more > 0 else []


def _stack(worst: Worst) -> list[str]:
    lines = [f"  {frame}" for frame in worst.stack[:_SHOWN_FRAMES]]
    held = ", ".join(worst.held) or "no interrupt that was enabled"
    asleep = f"; {worst.asleep_cycles:,} more cycles asleep" if worst.asleep_cycles else ""
    return [*lines, f"It held off {held}{asleep}."]


def _open(worst: Worst) -> str:
    return f"  {worst.name}, since cycle {worst.begin_cycle:,}, raised by {worst.begin}"


def _priorities(report: MaskReport) -> Table:
    table = _table("priority")
    for name in ("count", "longest", "", "total"):
        table.add_column(name, justify="right")
    for name in ("interrupts", "what held the longest"):
        table.add_column(name, overflow="fold")
    for priority in report.used_priorities:
        _add_priority(table, priority, report)
    return table


def _add_priority(table: Table, priority: AtPriority, report: MaskReport) -> None:
    longest = priority.longest or {"cycles": 0, "ns": None}
    table.add_row(
        f"{priority.number} ({priority.priority:#04x})",
        f"{priority.ended.height:,}",
        f"{longest['cycles']:,}",
        microseconds(longest["ns"]),
        f"{report.share(priority.ended):.1%}",
        Text(few(priority.exceptions)),
        Text(held_by(priority, report.places)),
    )


_MOST_IN_A_CELL = 6


def few(words: Sequence[str]) -> str:
    """The first few of some words, and how many more there are."""
    more = len(words) - _MOST_IN_A_CELL
    return ", ".join([*words[:_MOST_IN_A_CELL], *([f"and {more:,} more"] if more > 0 else [])])


def held_by(row: AtPriority, places: Places) -> str:
    """What held the longest: `basepri 0x60 1,580 + handler of SysTick (tick) 380 (19 times)`."""
    largest = sorted(row.parts, key=lambda part: -part.cycles)
    left = largest[_MOST_IN_A_CELL:]
    words = [
        f"{name_of(part.kind, part.level, places)} {part.cycles:,}"
        + (f" ({part.count:,} times)" if part.count > 1 else "")
        for part in row.parts
        if part not in left
    ]
    if left:
        words.append(f"{len(left):,} more {sum(part.cycles for part in left):,}")
    return " + ".join(words)


def _explained(steps: list[Step]) -> list[str]:
    cycles = max(sum(step.cycles for step in steps), 1)
    totals = [
        *execution.by_function(steps)[:_SHOWN_TOTALS],
        *execution.by_instruction(steps, _SHOWN_TOTALS),
    ]
    return [
        f"  {total.cycles:>8,} {total.cycles / cycles:>6.1%} {total.executions:>8,}×  "
        f"{total.name}{'  ' + total.source if total.source else ''}"
        for total in totals
    ]


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name)
    return table
