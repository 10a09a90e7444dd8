"""The bounds of a program as rows of a gate."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.bounds.costs import Costs
from analysis.bounds.masks import HANDLER, KINDS, SOME
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport
from analysis.program.bounds.text import where
from analysis.program.gate.rows import Measured, Row, Words, longest
from simulator.interrupts import priority_bits

COMMAND = "bounds"
PRIORITY = "priority"
ESTIMATE = "estimate"
BOUND_KINDS = (*KINDS, HANDLER, PRIORITY)
WORDS = Words(
    longest="The longest bound is {}",
    before="Its bound was {:,} cycles in the baseline",
    gone="nothing of it is in the code now",
    none="is in the code",
)
_NS_PER_S = 1e9


def measured(found: BoundsReport) -> Measured:
    """The longest bound of each kind in each function, and which have none."""
    return Measured(
        command=COMMAND,
        program=found.program.elf.name,
        settings={
            "until": found.masks.until,
            "options": " ".join(found.program.options),
            "kernel": found.masks.kernel.name if found.masks.kernel else "",
            "wait-states": str(found.costs.wait_states),
            "flash": _flash(found.costs),
            "apb-divider": str(found.costs.apb_divider),
            "pointers": found.costs.unknown.value,
            "observed": "" if found.margin is None else f"{found.margin:g}",
        },
        kinds=BOUND_KINDS,
        rows=longest(_row(found, one) for one in found.all),
        together=tuple(_priority(found, one) for one in found.priorities),
        wrong=tuple(_wrong(found)),
        words=WORDS,
        priority_bits=priority_bits(found.program.chip),
    )


def _flash(costs: Costs) -> str:
    """By what of the accelerator the costs go."""
    parts = {"prefetch": costs.prefetch, "code cache": costs.code_cache, "data cache": costs.data_cache}
    return ", ".join(name for name, works in parts.items() if works)


def _row(found: BoundsReport, one: Bounded) -> Row:
    cycles = (one.seen or 0) if one.cycles is None else one.cycles
    why_not = " ".join(one.why_not)
    return Row(one.function, _kind(one), cycles, _ns(found, cycles), where(one), why_not=why_not)


def _kind(one: Bounded) -> str:
    """`basepri 0x50`, with its level as far as it is known; `primask estimate`. So what was a bound
    and is an estimate is something new.
    """
    has_level = one.kind == "basepri" and 0 < one.level < SOME
    kind = f"{one.kind} {one.level:#04x}" if has_level else one.kind
    return f"{kind} {ESTIMATE}" if one.presumed else kind


def _priority(found: BoundsReport, one: AtPriority) -> Row:
    """How long an interrupt of a priority can be held off, by all that goes before it."""
    function = one.section.function if one.section else ""
    cycles = (one.seen or 0) if one.cycles is None else one.cycles
    place = f"held off by {where(one.section)}, and handlers" if one.section else "held off by handlers"
    why_not = f"Without a bound: {', '.join(map(where, one.missing))}." if one.missing else ""
    kind = f"{PRIORITY} {one.priority:#04x}{f' {ESTIMATE}' if one.is_estimate else ''}"
    unused = not one.exceptions
    return Row(function, kind, cycles, _ns(found, cycles), place, why_not=why_not, named_only=unused)


def _wrong(found: BoundsReport) -> Iterator[tuple[str, str]]:
    for one in found.violations:
        sentence = f"A run took {one.seen:,} cycles, and the bound is {one.cycles:,}: {where(one)}."
        row = _priority(found, one) if isinstance(one, AtPriority) else _row(found, one)
        yield f"{row.function}: {row.kind}", sentence


def _ns(found: BoundsReport, cycles: int) -> float:
    return cycles / found.hz * _NS_PER_S
