"""The bounds of a program as rows that are judged."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.bounds.costs import Costs
from analysis.bounds.masks import HANDLER, KINDS
from analysis.judge import rows as judged
from analysis.judge.limits import ANY
from analysis.judge.rows import Row, Words, longest
from analysis.program.bounds.measure import AtPriority, Bounded, BoundsReport

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


def subject(report: BoundsReport) -> judged.Subject:
    """The longest bound of each kind in each function, and which have none."""
    program = report.subject
    return judged.Subject(
        command=COMMAND,
        name=program.name,
        settings={
            **program.settings,
            "kernel": program.kernel.name if program.kernel else "",
            "wait-states": str(report.costs.wait_states),
            "flash": _flash(report.costs),
            "apb-divider": str(report.costs.apb_divider),
            "pointers": report.costs.unknown.value,
            "observed": "" if report.margin is None else f"{report.margin:g}",
        },
        rows=longest(_row(report, row) for row in report.all),
        together=tuple(_row(report, row) for row in report.priorities),
        wrong=tuple(_wrong(report)),
        words=WORDS,
        priority_bits=program.priority_bits,
    )


def _flash(costs: Costs) -> str:
    """By what of the accelerator the costs go."""
    parts = {"prefetch": costs.prefetch, "code cache": costs.code_cache, "data cache": costs.data_cache}
    return ", ".join(name for name, works in parts.items() if works)


def _row(report: BoundsReport, bound: Bounded | AtPriority) -> Row:
    """A section, a handler, or how long an interrupt of a priority can be held off by all that goes
    before it. The kind of an estimate is another: so what was a bound and is an estimate is new.
    """
    cycles = (bound.seen or 0) if bound.cycles is None else bound.cycles
    ns = cycles / report.hz * _NS_PER_S
    if isinstance(bound, Bounded):
        kind = f"{bound.shown_kind} {ESTIMATE}" if bound.presumed else bound.shown_kind
        return Row(bound.function, kind, cycles, ns, str(bound), why_not=" ".join(bound.why_not))
    function, place = "", "held off by handlers"
    if bound.section:
        function, place = bound.section.function, f"held off by {bound.section}, and handlers"
    why_not = f"Without a bound: {', '.join(map(str, bound.missing))}." if bound.missing else ""
    kind = f"{PRIORITY} {bound.priority:#04x}{f' {ESTIMATE}' if bound.estimate else ''}"
    return Row(function, kind, cycles, ns, place, why_not=why_not, named_only=not bound.exceptions)


def _wrong(report: BoundsReport) -> Iterator[tuple[str, str]]:
    for broken in report.violations:
        sentence = f"A run took {broken.seen:,} cycles, and the bound is {broken.cycles:,}: {broken}."
        yield _row(report, broken).name, sentence
