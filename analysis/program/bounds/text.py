"""The bounds of a program as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from analysis.bounds.costs import Costs, Memory
from analysis.bounds.masks import HANDLER, SOME
from analysis.bounds.segments import Section
from analysis.program.bounds.explained import Explained
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport
from base.microseconds import UNIT, digits

_WIDTH_COLUMNS = 120
_SHOWN = 12
_SHOWN_REASONS = 12
_NS_PER_S = 1e9


def as_text(report: BoundsReport, everything: bool = False, explanation: Explained | None = None) -> str:
    """A headline, what each priority waits for, the sections, and what stands in the way of
    bounds; and the path of one section if it was asked for.
    """
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(headline(report), presumes(report), sep="\n", soft_wrap=True)
        for part in (*_parts(report, everything), *([_path(report, explanation)] if explanation else [])):
            for line in ("", *part):
                console.print(line, soft_wrap=isinstance(line, str))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def headline(report: BoundsReport) -> str:
    """How many sections and handlers have a bound, and which is the longest."""
    bounded = [section for section in report.all if section.cycles is not None]
    estimates = f", {len(report.estimates)} more an estimate" if report.estimates else ""
    counted = (
        f"{report.program.elf.name}: {len(bounded) - len(report.estimates)} of {len(report.all)} have a bound"
        f"{estimates} ({_many(report.sections, 'section')}, {_many(report.handlers, 'handler')})"
    )
    if not report.all:
        return f"{report.program.elf.name}: nothing in its code holds interrupts off."
    if not bounded:
        return f"{counted}."
    longest = max(bounded, key=lambda section: section.cycles or 0)
    words = "an estimate of " if longest.presumed else ""
    return f"{counted}; the longest is {words}{_cycles(report, longest.cycles or 0)}, {where(longest)}."


def _many(sections: tuple[Bounded, ...], what: str) -> str:
    return f"{len(sections)} {what}{'s' * (len(sections) != 1)}"


def presumes(report: BoundsReport) -> str:
    """On what the figures rest."""
    pointers = ", pointers that nothing tells of go to SRAM" if report.costs.unknown is Memory.SRAM else ""
    return (
        f"Presumed: {_flash(report.costs)}, no DMA{pointers}; a section by itself, "
        "without the interrupts that it lets in. Seen: in a run of "
        f"{report.masks.cycles:,} cycles, without handlers in between."
    )


def _flash(costs: Costs) -> str:
    """`2 wait states, prefetch, both caches`."""
    caches = {(True, True): "both caches", (True, False): "code cache", (False, True): "data cache"}
    on = [*["prefetch"] * costs.prefetch, *filter(None, [caches.get((costs.code_cache, costs.data_cache))])]
    return ", ".join([f"{costs.wait_states} wait states", *(on or ["accelerator off"])])


def where(section: Bounded | AtPriority) -> str:
    """`basepri 0x50, raised by f (f.c:12), called by g (g.c:3)`; `priority 8 (0x80) (IRQ 6)`."""
    if isinstance(section, AtPriority):
        return f"priority {numbered(section)} ({', '.join(section.exceptions) or 'no interrupt'})"
    if section.kind == HANDLER:
        return f"handler {section.begin}"
    level = (
        ""
        if section.kind != "basepri"
        else " of any level"
        if section.level >= SOME
        else f" {section.level:#04x}"
    )
    called = f", called by {section.caller}" if section.caller else ""
    return f"{section.kind}{level}, raised by {section.begin}{called}"


def numbered(priority: AtPriority) -> str:
    """`5 (0x50)`: the NVIC's number, and its byte."""
    return f"{priority.number} ({priority.priority:#04x})"


def _cycles(report: BoundsReport, cycles: int) -> str:
    return f"{cycles:,} cycles ({digits(cycles / report.hz * _NS_PER_S)} {UNIT})"


def _parts(report: BoundsReport, everything: bool) -> Iterator[list[str | Table]]:
    if report.violations:
        yield [
            "LONGER THAN ITS BOUND: what was stated is wrong, or the bound: then please report it",
            *map(_violation, report.violations),
        ]
    if report.used_priorities:
        yield [
            "By priority: the longest that such an interrupt can be held off",
            _priorities(report),
            *(_made_up(priority) for priority in report.used_priorities),
        ]
    bounded = [section for section in report.all if section.cycles is not None]
    if bounded:
        shown = bounded if everything else bounded[:_SHOWN]
        yield [
            f"Sections and handlers that have a bound{' or an estimate' if report.estimates else ''}",
            _table(report, shown),
            *_more(len(bounded), len(shown)),
            *(f"{where(section)}: {told}." for section in bounded if (told := report.loose(section))),
        ]
    if report.estimates:
        yield [
            f"~ an estimate, and no bound: it rests on what a run saw, times {report.margin:g}",
            *(
                f"  {word}"
                for word in dict.fromkeys(word for section in report.estimates for word in section.presumed)
            ),
        ]
    if report.endless:
        yield [
            "Held off for ever: no way leads from there to where interrupts are let in again",
            *(_endless(section, report) for section in report.endless),
        ]
    without = [section for section in report.all if section.cycles is None]
    if without:
        shown = without if everything else without[:_SHOWN]
        yield [
            "Without a bound",
            *(f"  {_without(section)}" for section in shown),
            *_more(len(without), len(shown)),
        ]
        reasons = list(report.missing.items())
        listed = reasons if everything else reasons[:_SHOWN_REASONS]
        yield [
            "What is missing, and how many it stops (docs/reference/bounds.md says how to state it)",
            *(f"  {count:5}× {word}" for word, count in listed),
            *_more(len(reasons), len(listed)),
        ]


def _path(report: BoundsReport, explanation: Explained) -> list[str | Table]:
    return [
        f"The longest path of {where(explanation.section)}: {_cycles(report, explanation.cycles)}",
        "The cycles are those of all passes of a block, with the ways on from it; its code stands below.",
        _blocks(explanation),
        *(
            ("Calls on the path, with the cycles that they take", _calls(explanation))
            if explanation.calls
            else ()
        ),
    ]


def _blocks(explanation: Explained) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none")
    for name in ("cycles", "of all", "passes"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("address", no_wrap=True)
    table.add_column("instruction", no_wrap=True)
    table.add_column("source")
    for block in explanation.blocks:
        cycles = (f"{block.cycles:,}", f"{explanation.share(block.cycles):.1%}", f"{block.passes:,}")
        first = block.code[0].address if block.code else None
        table.add_row(*cycles, "" if first is None else f"{first:#010x}", block.function)
        for code in block.code:
            table.add_row("", "", "", f"{code.address:#010x}", f"  {code.text}", code.line)
    return table


def _calls(explanation: Explained) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none")
    for name in ("cycles", "of all", "times"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("call")
    for call in explanation.calls:
        words = f"{call.caller} calls {call.callee} ({call.line})"
        table.add_row(f"{call.cycles:,}", f"{explanation.share(call.cycles):.1%}", f"{call.times:,}", words)
    return table


def _endless(section: Section, report: BoundsReport) -> str:
    return f"  {section.kind}, raised by {report.masks.places.place(section.begin.address)}"


def _more(count: int, shown: int) -> list[str]:
    return [f"and {count - shown:,} more (--all or --json has them)"] if count > shown else []


def _violation(row: Bounded | AtPriority) -> str:
    return f"  seen {row.seen:,}, bound {row.cycles:,}: {where(row)}"


def _without(section: Bounded) -> str:
    seen = (
        f"seen {section.seen:,}"
        if section.seen
        else "never run"
        if not section.count
        else "seen only interrupted"
    )
    return (
        f"{seen:>12}  {where(section)}: {len(section.why_not)} reasons"
        if len(section.why_not) > 1
        else (f"{seen:>12}  {where(section)}: {section.why_not[0]}")
    )


def _table(report: BoundsReport, shown: list[Bounded]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none")
    for name in ("bound", UNIT, "seen", "of it"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what holds interrupts off")
    for section in shown:
        cycles = section.cycles or 0
        share = f"{section.seen / cycles:.0%}" if section.seen else ""
        seen = f"{section.seen:,}" if section.seen else "never run" if not section.count else "interrupted"
        bound = f"{'~' * bool(section.presumed)}{cycles:,}"
        table.add_row(bound, digits(cycles / report.hz * _NS_PER_S), seen, share, where(section))
    return table


def _priorities(report: BoundsReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none")
    table.add_column("priority", no_wrap=True)
    for name in ("bound", UNIT, "seen"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("interrupts")
    for priority in report.used_priorities:
        cycles = "none" if priority.cycles is None else f"{'~' * priority.is_estimate}{priority.cycles:,}"
        time = "" if priority.cycles is None else digits(priority.cycles / report.hz * _NS_PER_S)
        seen = "" if priority.seen is None else f"{priority.seen:,}"
        table.add_row(numbered(priority), cycles, time, seen, ", ".join(priority.exceptions))
    return table


def _made_up(priority: AtPriority) -> str:
    """`5 (0x50): entry 29 + section 805 (…) + handlers, each once: SysTick_Handler 2,247`."""
    parts = [
        f"entry {priority.entry}",
        *([f"caches read anew {priority.refill:,}"] if priority.refill else []),
    ]
    if priority.section:
        parts.append(f"section {priority.section.cycles:,} ({where(priority.section)})")
    parts += [f"{other.function} {other.cycles:,}" for other in priority.handlers if other.cycles is not None]
    words = f"{numbered(priority)}: " + " + ".join(parts)
    return f"{words}; and {len(priority.missing)} without a bound" if priority.missing else words
