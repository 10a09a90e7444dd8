"""The bounds of a program in words: its first sentences, its parts, and its document.

elf, options[], until, kernel   its name; null if none is known
cycles                          that the run took
clock_hz                        the fastest clock of the run; ns are by it
timing                          by which the costs go
  wait_states                   of the flash
  prefetch, code_cache,         true or false: what of the flash's accelerator is taken to be on
  data_cache
  apb_divider                   core cycles in one of the slower PCLK
  pointers                      any or sram, as --pointers says
sections[], handlers[]          those without a bound first, then the longest first, each
  kind                          primask, basepri, faultmask, handler
  level                         BASEPRI's value, 256 if only known not to be 0; of a handler its
                                exception; else 0
  function                      that raises it, or the handler
  begin, caller, ends[]         places, as in the document of masks; caller is the call of the
                                function that comes back with the mask set, else null
  bound_cycles, bound_ns        null without a bound
  why_not[]                     the reasons why there is no bound; else empty
  seen_cycles                   the longest that no handler came into, or null
  count                         how often the run came there
priorities[]                    each
  priority, number              its byte, and its number of the NVIC: 0x50 is 5 of four bits
  exceptions[]                  the interrupts that have it; empty of one that none has
  bound_cycles, bound_ns        null if one of the parts has no bound
  entry_cycles, section_cycles  section_cycles is null if no section holds it off
  refill_cycles                 where a handler comes in, what it interrupts reads anew of the
                                flash
  handlers {name: cycles}       those that go before it, each once
  missing[]                     "KIND of FUNCTION": the parts without a bound
  seen_cycles                   the longest that the run held one off, or null
missing[]                       {why, stops}: each reason, and how many it stops
violations                      how many took longer than their bound: 0
explained                       null without --explain, else
  begin, bound_cycles           of which section or handler, as above
  blocks[]                      the longest path, the most cycles first
    function                    whose code it is; or what, of what is no code
    passes, cycles, share       how often it is passed, all cycles of that, and of the bound
    instructions[]              address, text, line ("file.c:12" or null)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.bounds.costs import Costs, Memory
from analysis.bounds.state import HANDLER, KINDS
from analysis.judge import rows as judged
from analysis.judge.limits import ANY
from analysis.judge.rows import Row, Words, longest
from analysis.program import parts
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport, Explained
from analysis.program.parts import Part, length
from base.microseconds import UNIT, digits


def as_json(report: BoundsReport, explanation: Explained | None = None) -> dict[str, Any]:
    """The document, with the path of one section if it was named."""
    costs = report.costs
    timing = ("wait_states", "prefetch", "code_cache", "data_cache", "apb_divider")
    return {
        **parts.as_json(report),
        "timing": {**{name: getattr(costs, name) for name in timing}, "pointers": costs.unknown.value},
        "missing": [{"why": word, "stops": count} for word, count in report.missing.items()],
        "violations": len(report.violations),
        "explained": parts.dump(explanation),
    }


def as_text(report: BoundsReport, everything: bool = False, explanation: Explained | None = None) -> str:
    """A headline, what each priority waits for, the sections, and what stands in the way of
    bounds; and the path of one section if it was named.
    """
    path = [path_of(explanation)] if explanation else []
    return parts.as_text([headline(report), *remarks(report)], [*of_report(report), *path], everything)


def headline(report: BoundsReport) -> str:
    """How many sections and handlers have a bound, and which is the longest."""
    counts = (
        f"{report.subject.name}: {len(report.bounded)} of {len(report.all)} have a bound "
        f"(sections: {len(report.sections)}, handlers: {len(report.handlers)})"
    )
    if not report.all:
        return f"{report.subject.name}: nothing in its code holds interrupts off."
    if not report.bounded:
        return f"{counts}."
    longest = max(report.bounded, key=lambda section: section.cycles or 0)
    return f"{counts}; the longest is {length(longest.cycles or 0, longest.ns or 0.0)}, {longest}."


def remarks(report: BoundsReport) -> Iterator[str]:
    """What must be known to read the figures."""
    if report.violations:
        yield (
            f"LONGER THAN ITS BOUND: {len(report.violations)}. What was stated is wrong, or a bound is: then "
            "please report it."
        )
    yield presumes(report)


def presumes(report: BoundsReport) -> str:
    """On what the figures rest: `2 wait states, prefetch, both caches`."""
    costs = report.costs
    helps = _helps(costs).replace("code cache, data cache", "both caches") or "accelerator off"
    pointers = ", pointers that nothing tells of go to SRAM" if costs.unknown is Memory.SRAM else ""
    return (
        f"Presumed: {costs.wait_states} wait states, {helps}, no DMA{pointers}; a section by itself, "
        f"without the interrupts that it lets in. Seen: in a run of {report.cycles:,} cycles, without "
        "handlers in between."
    )


def _helps(costs: Costs) -> str:
    """What of the flash's accelerator is on: `prefetch, code cache, data cache`."""
    helps = {"prefetch": costs.prefetch, "code cache": costs.code_cache, "data cache": costs.data_cache}
    return ", ".join(name for name, works in helps.items() if works)


def of_report(report: BoundsReport) -> Iterator[Part]:
    """All parts, also those of which there is nothing to say."""
    yield Part(
        "Longer than its bound",
        ("seen", "bound", "what"),
        [(f"{row.seen:,}", f"{row.cycles:,}", str(row)) for row in report.violations],
        numbers=range(2),
    )
    yield Part(
        "By priority: the longest that such an interrupt can be held off",
        ("priority", "bound", UNIT, "seen", "interrupts, and what it is made of"),
        [
            (
                row.numbered,
                "none" if row.cycles is None else f"{row.cycles:,}",
                "" if row.ns is None else digits(row.ns),
                "" if row.seen is None else f"{row.seen:,}",
                f"{', '.join(row.exceptions)}\n{_made_of(row)}",
            )
            for row in report.used_priorities
        ],
        numbers=range(1, 4),
        most=50,
    )
    yield Part(
        "Sections and handlers that have a bound",
        ("bound", UNIT, "seen", "of it", "×", "what holds interrupts off"),
        [
            (
                f"{row.cycles:,}",
                digits(row.ns or 0.0),
                _seen(row),
                f"{row.seen / row.cycles:.0%}" if row.seen and row.cycles else "",
                f"{row.count:,}",
                str(row),
            )
            for row in report.bounded
        ],
        numbers=range(5),
    )
    yield Part(
        "Held off for ever: no way leads from there to where interrupts are let in again",
        ("kind", "raised by"),
        [(section.kind, str(report.masks.places.place(section.begin.address))) for section in report.endless],
    )
    yield Part(
        "Without a bound",
        ("seen", "what holds interrupts off, and why it has none"),
        [
            (_seen(row), f"{row}\n{row.why_not[0]}{f' And {more} more.' if more else ''}")
            for row in report.unbounded
            for more in [len(row.why_not) - 1]
        ],
        numbers=range(1),
    )
    yield Part(
        "What is missing, and how many it stops (docs/how-to/bounds.md says how to state it)",
        ("×", "what"),
        [(f"{count:,}", word) for word, count in report.missing.items()],
        numbers=range(1),
    )


def _seen(row: Bounded) -> str:
    return f"{row.seen:,}" if row.seen else "interrupted" if row.count else "never run"


def _made_of(row: AtPriority) -> str:
    """`entry 29 + section 805 (…) + SysTick_Handler 2,247`: handlers count once each."""
    summands = [f"entry {row.entry}", *([f"caches read anew {row.refill:,}"] if row.refill else [])]
    if row.section:
        summands.append(f"section {row.section.cycles:,} ({row.section})")
    summands += [f"{other.function} {other.cycles:,}" for other in row.handlers if other.cycles is not None]
    words = " + ".join(summands)
    return f"{words}; and {len(row.missing)} without a bound" if row.missing else words


def path_of(explanation: Explained) -> Part:
    """The blocks of a path. Cycles are those of all passes, with the ways on from a block; its code
    stands below.
    """
    lines = []
    for block in explanation.blocks:
        first = f"{block.instructions[0].address:#010x}" if block.instructions else ""
        lines += [
            (f"{block.cycles:,}", f"{block.share:.1%}", f"{block.passes:,}", first, block.function, ""),
            *(
                ("", "", "", f"{code.address:#010x}", f"  {code.text}", code.line or "")
                for code in block.instructions
            ),
        ]
    return Part(
        f"The longest path of {explanation.section}: "
        f"{length(explanation.cycles, explanation.section.ns or 0.0)}, by blocks with the ways on from them",
        ("cycles", "of all", "passes", "address", "instruction", "source"),
        lines,
        numbers=range(3),
        most=10_000,
    )


# The bounds of a program as rows that are judged.


COMMAND = "bounds"
PRIORITY = "priority"
BOUND_KINDS = (*KINDS, HANDLER, PRIORITY, ANY)
WORDS = Words(
    longest="The longest bound is {}",
    before="Its bound was {:,} cycles in the baseline",
    gone="nothing of it is in the code now",
    none="is in the code",
)
_NS_PER_S = 1e9


def subject(report: BoundsReport) -> judged.Subject:
    """The longest bound of each kind in each function, and which have none."""
    program, costs = report.subject, report.costs
    return judged.Subject(
        command=COMMAND,
        name=program.name,
        settings={
            **program.settings,
            "kernel": program.kernel.name if program.kernel else "",
            "wait-states": str(costs.wait_states),
            "flash": _helps(costs),
            "apb-divider": str(costs.apb_divider),
            "pointers": costs.unknown.value,
        },
        rows=longest(_row(report, bound) for bound in report.all),
        together=tuple(_row(report, bound) for bound in report.priorities),
        wrong=tuple(
            (
                _row(report, broken).name,
                f"A run took {broken.seen:,} cycles, and the bound is {broken.cycles:,}: {broken}.",
            )
            for broken in report.violations
        ),
        words=WORDS,
        priority_bits=program.priority_bits,
    )


def _row(report: BoundsReport, bound: Bounded | AtPriority) -> Row:
    """A section, a handler, or how long an interrupt of a priority can be held off by all that goes
    before it.
    """
    cycles = (bound.seen or 0) if bound.cycles is None else bound.cycles
    ns = cycles / report.hz * _NS_PER_S
    if isinstance(bound, Bounded):
        return Row(bound.function, bound.shown_kind, cycles, ns, str(bound), why_not=" ".join(bound.why_not))
    function, place = "", "held off by handlers"
    if bound.section:
        function, place = bound.section.function, f"held off by {bound.section}, and handlers"
    why_not = f"Without a bound: {', '.join(map(str, bound.missing))}." if bound.missing else ""
    kind = f"{PRIORITY} {bound.priority:#04x}"
    return Row(function, kind, cycles, ns, place, why_not=why_not, named_only=not bound.exceptions)
