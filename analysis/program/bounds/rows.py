"""The bounds of a program as rows that are judged."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.bounds.costs import Costs
from analysis.bounds.masks import HANDLER, KINDS, SOME
from analysis.judge.limits import ANY
from analysis.judge.rows import Row, Subject, Words, longest
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport
from analysis.program.bounds.text import where
from simulator.interrupts import priority_bits

COMMAND = "bounds"
PRIORITY = "priority"
ESTIMATE = "estimate"
BOUND_KINDS = (*KINDS, HANDLER, PRIORITY, ANY)
WORDS = Words(
    longest="The longest bound is {}",
    before="Its bound was {:,} cycles in the baseline",
    gone="nothing of it is in the code now",
    none="is in the code",
)
_NS_PER_S = 1e9


def subject(report: BoundsReport) -> Subject:
    """The longest bound of each kind in each function, and which have none."""
    return Subject(
        command=COMMAND,
        name=report.program.elf.name,
        settings={
            "until": report.masks.until,
            "options": " ".join(report.program.options),
            "kernel": report.masks.kernel.name if report.masks.kernel else "",
            "wait-states": str(report.costs.wait_states),
            "flash": _flash(report.costs),
            "apb-divider": str(report.costs.apb_divider),
            "pointers": report.costs.unknown.value,
            "observed": "" if report.margin is None else f"{report.margin:g}",
        },
        rows=longest(_row(report, section) for section in report.all),
        together=tuple(_priority(report, level) for level in report.priorities),
        wrong=tuple(_wrong(report)),
        words=WORDS,
        priority_bits=priority_bits(report.program.chip),
    )


def _flash(costs: Costs) -> str:
    """By what of the accelerator the costs go."""
    parts = {"prefetch": costs.prefetch, "code cache": costs.code_cache, "data cache": costs.data_cache}
    return ", ".join(name for name, works in parts.items() if works)


def _row(report: BoundsReport, section: Bounded) -> Row:
    cycles = (section.seen or 0) if section.cycles is None else section.cycles
    why_not = " ".join(section.why_not)
    return Row(section.function, _kind(section), cycles, _ns(report, cycles), where(section), why_not=why_not)


def _kind(section: Bounded) -> str:
    """`basepri 0x50`, with its level as far as it is known; `primask estimate`. So what was a bound
    and is an estimate is something new.
    """
    has_level = section.kind == "basepri" and 0 < section.level < SOME
    kind = f"{section.kind} {section.level:#04x}" if has_level else section.kind
    return f"{kind} {ESTIMATE}" if section.presumed else kind


def _priority(report: BoundsReport, level: AtPriority) -> Row:
    """How long an interrupt of a priority can be held off, by all that goes before it."""
    function = level.section.function if level.section else ""
    cycles = (level.seen or 0) if level.cycles is None else level.cycles
    place = f"held off by {where(level.section)}, and handlers" if level.section else "held off by handlers"
    why_not = f"Without a bound: {', '.join(map(where, level.missing))}." if level.missing else ""
    kind = f"{PRIORITY} {level.priority:#04x}{f' {ESTIMATE}' if level.is_estimate else ''}"
    unused = not level.exceptions
    return Row(function, kind, cycles, _ns(report, cycles), place, why_not=why_not, named_only=unused)


def _wrong(report: BoundsReport) -> Iterator[tuple[str, str]]:
    for broken in report.violations:
        sentence = f"A run took {broken.seen:,} cycles, and the bound is {broken.cycles:,}: {where(broken)}."
        row = _priority(report, broken) if isinstance(broken, AtPriority) else _row(report, broken)
        yield row.name, sentence


def _ns(report: BoundsReport, cycles: int) -> float:
    return cycles / report.hz * _NS_PER_S
