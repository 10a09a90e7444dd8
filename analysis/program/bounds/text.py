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


def as_text(found: BoundsReport, everything: bool = False, told: Explained | None = None) -> str:
    """A headline, what each priority waits for, the sections, and what stands in the way of
    bounds; and the path of one section if it was asked for.
    """
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(headline(found), presumes(found), sep="\n", soft_wrap=True)
        for part in (*_parts(found, everything), *([_path(found, told)] if told else [])):
            for line in ("", *part):
                console.print(line, soft_wrap=isinstance(line, str))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def headline(found: BoundsReport) -> str:
    """How many sections and handlers have a bound, and which is the longest."""
    bounded = [one for one in found.all if one.cycles is not None]
    estimates = f", {len(found.estimates)} more an estimate" if found.estimates else ""
    counted = (
        f"{found.program.elf.name}: {len(bounded) - len(found.estimates)} of {len(found.all)} have a bound"
        f"{estimates} ({_many(found.sections, 'section')}, {_many(found.handlers, 'handler')})"
    )
    if not found.all:
        return f"{found.program.elf.name}: nothing in its code holds interrupts off."
    if not bounded:
        return f"{counted}."
    longest = max(bounded, key=lambda one: one.cycles or 0)
    words = "an estimate of " if longest.presumed else ""
    return f"{counted}; the longest is {words}{_cycles(found, longest.cycles or 0)}, {where(longest)}."


def _many(found: tuple[Bounded, ...], what: str) -> str:
    return f"{len(found)} {what}{'s' * (len(found) != 1)}"


def presumes(found: BoundsReport) -> str:
    """On what the figures rest."""
    pointers = ", pointers that nothing tells of go to SRAM" if found.costs.unknown is Memory.SRAM else ""
    return (
        f"Presumed: {_flash(found.costs)}, no DMA{pointers}; a section by itself, "
        "without the interrupts that it lets in. Seen: in a run of "
        f"{found.masks.cycles:,} cycles, without handlers in between."
    )


def _flash(costs: Costs) -> str:
    """`2 wait states, prefetch, both caches`."""
    caches = {(True, True): "both caches", (True, False): "code cache", (False, True): "data cache"}
    on = [*["prefetch"] * costs.prefetch, *filter(None, [caches.get((costs.code_cache, costs.data_cache))])]
    return ", ".join([f"{costs.wait_states} wait states", *(on or ["accelerator off"])])


def where(one: Bounded | AtPriority) -> str:
    """`basepri 0x50, raised by f (f.c:12), called by g (g.c:3)`; `priority 8 (0x80) (IRQ 6)`."""
    if isinstance(one, AtPriority):
        return f"priority {numbered(one)} ({', '.join(one.exceptions) or 'no interrupt'})"
    if one.kind == HANDLER:
        return f"handler {one.begin}"
    level = "" if one.kind != "basepri" else " of any level" if one.level >= SOME else f" {one.level:#04x}"
    called = f", called by {one.caller}" if one.caller else ""
    return f"{one.kind}{level}, raised by {one.begin}{called}"


def numbered(one: AtPriority) -> str:
    """`5 (0x50)`: the NVIC's number, and its byte."""
    return f"{one.number} ({one.priority:#04x})"


def _cycles(found: BoundsReport, cycles: int) -> str:
    return f"{cycles:,} cycles ({digits(cycles / found.hz * _NS_PER_S)} {UNIT})"


def _parts(found: BoundsReport, everything: bool) -> Iterator[list[str | Table]]:
    if found.violations:
        yield [
            "LONGER THAN ITS BOUND: what was stated is wrong, or the bound: then please report it",
            *map(_violation, found.violations),
        ]
    if found.used_priorities:
        yield [
            "By priority: the longest that such an interrupt can be held off",
            _priorities(found),
            *(_made_up(one) for one in found.used_priorities),
        ]
    bounded = [one for one in found.all if one.cycles is not None]
    if bounded:
        shown = bounded if everything else bounded[:_SHOWN]
        yield [
            f"Sections and handlers that have a bound{' or an estimate' if found.estimates else ''}",
            _table(found, shown),
            *_more(len(bounded), len(shown)),
            *(f"{where(one)}: {told}." for one in bounded if (told := found.loose(one))),
        ]
    if found.estimates:
        yield [
            f"~ an estimate, and no bound: it rests on what a run saw, times {found.margin:g}",
            *(
                f"  {word}"
                for word in dict.fromkeys(word for one in found.estimates for word in one.presumed)
            ),
        ]
    if found.endless:
        yield [
            "Held off for ever: no way leads from there to where interrupts are let in again",
            *(_endless(one, found) for one in found.endless),
        ]
    without = [one for one in found.all if one.cycles is None]
    if without:
        shown = without if everything else without[:_SHOWN]
        yield ["Without a bound", *(f"  {_without(one)}" for one in shown), *_more(len(without), len(shown))]
        reasons = list(found.missing.items())
        kept = reasons if everything else reasons[:_SHOWN_REASONS]
        yield [
            "What is missing, and how many it stops (docs/reference/bounds.md says how to state it)",
            *(f"  {count:5}× {word}" for word, count in kept),
            *_more(len(reasons), len(kept)),
        ]


def _path(found: BoundsReport, told: Explained) -> list[str | Table]:
    return [
        f"The longest path of {where(told.section)}: {_cycles(found, told.cycles)}",
        "The cycles are those of all passes of a block, with the ways on from it; its code stands below.",
        _blocks(told),
        *(("Calls on the path, with the cycles that they take", _calls(told)) if told.calls else ()),
    ]


def _blocks(told: Explained) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none")
    for name in ("cycles", "of all", "passes"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("address", no_wrap=True)
    table.add_column("instruction", no_wrap=True)
    table.add_column("source")
    for one in told.blocks:
        cycles = (f"{one.cycles:,}", f"{told.share(one.cycles):.1%}", f"{one.passes:,}")
        first = one.code[0].address if one.code else None
        table.add_row(*cycles, "" if first is None else f"{first:#010x}", one.function)
        for code in one.code:
            table.add_row("", "", "", f"{code.address:#010x}", f"  {code.text}", code.line)
    return table


def _calls(told: Explained) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none")
    for name in ("cycles", "of all", "times"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("call")
    for one in told.calls:
        words = f"{one.caller} calls {one.callee} ({one.line})"
        table.add_row(f"{one.cycles:,}", f"{told.share(one.cycles):.1%}", f"{one.times:,}", words)
    return table


def _endless(one: Section, found: BoundsReport) -> str:
    return f"  {one.kind}, raised by {found.masks.places.place(one.begin.address)}"


def _more(count: int, shown: int) -> list[str]:
    return [f"and {count - shown:,} more (--all or --json has them)"] if count > shown else []


def _violation(one: Bounded | AtPriority) -> str:
    return f"  seen {one.seen:,}, bound {one.cycles:,}: {where(one)}"


def _without(one: Bounded) -> str:
    seen = f"seen {one.seen:,}" if one.seen else "never run" if not one.count else "seen only interrupted"
    return (
        f"{seen:>12}  {where(one)}: {len(one.why_not)} reasons"
        if len(one.why_not) > 1
        else (f"{seen:>12}  {where(one)}: {one.why_not[0]}")
    )


def _table(found: BoundsReport, shown: list[Bounded]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none")
    for name in ("bound", UNIT, "seen", "of it"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what holds interrupts off")
    for one in shown:
        cycles = one.cycles or 0
        share = f"{one.seen / cycles:.0%}" if one.seen else ""
        seen = f"{one.seen:,}" if one.seen else "never run" if not one.count else "interrupted"
        bound = f"{'~' * bool(one.presumed)}{cycles:,}"
        table.add_row(bound, digits(cycles / found.hz * _NS_PER_S), seen, share, where(one))
    return table


def _priorities(found: BoundsReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none")
    table.add_column("priority", no_wrap=True)
    for name in ("bound", UNIT, "seen"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("interrupts")
    for one in found.used_priorities:
        cycles = "none" if one.cycles is None else f"{'~' * one.is_estimate}{one.cycles:,}"
        time = "" if one.cycles is None else digits(one.cycles / found.hz * _NS_PER_S)
        seen = "" if one.seen is None else f"{one.seen:,}"
        table.add_row(numbered(one), cycles, time, seen, ", ".join(one.exceptions))
    return table


def _made_up(one: AtPriority) -> str:
    """`5 (0x50): entry 29 + section 805 (…) + handlers, each once: SysTick_Handler 2,247`."""
    parts = [f"entry {one.entry}", *([f"caches read anew {one.refill:,}"] if one.refill else [])]
    if one.section:
        parts.append(f"section {one.section.cycles:,} ({where(one.section)})")
    parts += [f"{other.function} {other.cycles:,}" for other in one.handlers if other.cycles is not None]
    words = f"{numbered(one)}: " + " + ".join(parts)
    return f"{words}; and {len(one.missing)} without a bound" if one.missing else words
