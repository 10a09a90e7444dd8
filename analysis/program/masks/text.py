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


def as_text(found: MaskReport) -> str:
    """A headline, the kinds, the longest by place, and what each priority waits for."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(*opening(found), sep="\n", soft_wrap=True)
        for part in _parts(found):
            for line in ("", *part):
                console.print(line, soft_wrap=isinstance(line, str))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def opening(found: MaskReport) -> list[str]:
    """The sentences that come first: that it stopped, if it did; the headline; and the notes."""
    first = [found.stop.sentence] if found.stop else []
    return [*first, headline(found), *start_up(found), *found.notes[len(first) :]]


def headline(found: MaskReport) -> str:
    """The program, how long it ran, and the longest interval of all from the beginning on."""
    ran = f"{found.program.elf.name}, {found.cycles:,} cycles"
    begun = found.beginning
    after = ""
    if begun.first_cycle:
        after = f"from {begun.asked.where} on, " if begun.asked.time else "after start-up "
    longest = found.longest
    if longest is None:
        return f"{ran}: {after}no interval that held interrupts off has ended."
    return f"{ran}: {after}the longest interval is {length(longest)}, {longest.name}, {who(longest)}."


def start_up(found: MaskReport) -> list[str]:
    """What is left out of the headline, and why; nothing where all of the run was asked for."""
    begun = found.beginning
    asked = begun.asked
    why = f" ({asked.why})" if asked.why else ""
    if not begun.seen:
        return [f"All of the run counts: it ended before {asked.where}{why}."]
    if not begun.first_cycle:
        return [f"All of the run counts, from reset on{why}."] if why else []
    at_ns = float(found.clock.ns([begun.first_cycle])[0])
    told = (
        f"Start-up: the {begun.first_cycle:,} cycles ({microseconds(at_ns)}) until {asked.where}{why}, "
        "left out of all that follows"
    )
    if found.start_up is None or not found.start_up.worst:
        return [f"{told}; no interval of it has ended."]
    longest = found.start_up.worst[0]
    return [f"{told}; its longest interval is {length(longest)}, {longest.name}, {who(longest)}."]


def length(one: Worst) -> str:
    """`1,001 cycles (62.56 µs)`."""
    return "still open" if one.ns is None else f"{one.cycles:,} cycles ({microseconds(one.ns)})"


def microseconds(ns: Number | None) -> str:
    """Nanoseconds in microseconds, with two decimals; empty where there are none."""
    return "" if ns is None else f"{digits(ns)}\N{NO-BREAK SPACE}{UNIT}"


def _parts(found: MaskReport) -> Iterator[Sequence[str | Table]]:
    kinds = _kinds(found)
    if kinds.row_count:
        yield "Intervals, by kind, in cycles", kinds
    if found.worst:
        shown = [line for one in found.worst[:_SHOWN] for line in _worst(one)]
        yield "The longest at each place, and how many there were", *shown, *_left_out(found)
        yield "Call stack of the longest", *_stack(found.worst[0])
    if found.still_open:
        yield "Still open at the end, and not counted", *(_open(one) for one in found.still_open)
    if found.kernel and found.idle_cycles:
        share = f"{found.idle_cycles / found.counted_cycles:.1%}"
        yield f"Idle in {share} of the cycles: {found.kernel.name}'s idle task ran, or the core slept", ""
    if found.used_priorities:
        yield "Not taken, by priority: everything that holds such an interrupt off", _priorities(found)
    if found.run.stats.notes:
        yield HEADING_OF_NOTES, *(f"  {one}" for one in found.run.stats.notes)
    for kind, steps in found.steps.items():
        yield f"Instructions of the longest {kind}", *_explained(steps)


def _kinds(found: MaskReport) -> Table:
    table = _table("kind")
    for name in ("count", "min", "median", "p99", "max", "", "total"):
        table.add_column(name, justify="right")
    for kind in KINDS:
        rows = found.intervals.filter(pl.col("cycles").is_not_null(), kind=kind)
        for level in rows["level"].unique().sort().to_list():
            of = rows.filter(pl.col("level").eq_missing(level))
            _add(table, name_of(kind, level, found.places), of, f"{found.share(of):.1%}")
    return table


def _add(table: Table, name: str, rows: pl.DataFrame, share: str) -> None:
    told = summarise(rows["cycles"].to_numpy())
    longest = microseconds(rows["ns"].max())  # type: ignore[arg-type]
    table.add_row(Text(name), f"{told.n:,}", *_statistics(told), longest, share)


def _statistics(told: Summary) -> list[str]:
    values = (told.min, told.median, told.p99, told.max)
    return ["-" if value is None else f"{value:,}" for value in values]


def _worst(one: Worst) -> list[str]:
    task = f", in task {one.task}" if one.task else ""
    return [
        f"  {one.cycles:>10,} {microseconds(one.ns):>12} {one.count:>8,}×  {one.name}{task}",
        f"      {who(one)}",
        *([f"      {waited_for_flash(one)}"] if one.stalled_cycles else []),
    ]


def waited_for_flash(one: Worst) -> str:
    """What the flash has to do with the length of an interval."""
    return (
        f"for {one.stalled_cycles:,} of these cycles the core waited for the flash: it was written or erased"
    )


def who(one: Worst) -> str:
    """Who raised an interval, and who ended it."""
    begun, ended = ("", "ended in") if one.kind == "handler" else ("raised by ", "ended by")
    verb = "interrupted" if one.kind == "handler" or (one.caller and one.caller.interrupted) else "called by"
    caller = f", {verb} {one.caller}" if one.caller else ""
    lock = f"{one.lock} in " if one.lock else ""
    return f"{begun}{lock}{one.begin}{caller}; {ended} {one.end}"


def _left_out(found: MaskReport) -> list[str]:
    more = len(found.worst) - _SHOWN
    return [f"and {more:,} more places (--json or --output FILE.html has all)"] if more > 0 else []


def _stack(one: Worst) -> list[str]:
    lines = [f"  {frame}" for frame in one.stack[:_SHOWN_FRAMES]]
    held = ", ".join(one.held) or "no interrupt that was enabled"
    asleep = f"; {one.asleep_cycles:,} more cycles asleep" if one.asleep_cycles else ""
    return [*lines, f"It held off {held}{asleep}."]


def _open(one: Worst) -> str:
    return f"  {one.name}, since cycle {one.begin_cycle:,}, raised by {one.begin}"


def _priorities(found: MaskReport) -> Table:
    table = _table("priority")
    for name in ("count", "longest", "", "total"):
        table.add_column(name, justify="right")
    for name in ("interrupts", "what held the longest"):
        table.add_column(name, overflow="fold")
    for one in found.used_priorities:
        _add_priority(table, one, found)
    return table


def _add_priority(table: Table, one: AtPriority, found: MaskReport) -> None:
    longest = one.longest or {"cycles": 0, "ns": None}
    table.add_row(
        f"{one.number} ({one.priority:#04x})",
        f"{one.ended.height:,}",
        f"{longest['cycles']:,}",
        microseconds(longest["ns"]),
        f"{found.share(one.ended):.1%}",
        Text(few(one.exceptions)),
        Text(held_by(one, found.places)),
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
