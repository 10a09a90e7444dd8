"""The latencies and sections of a program as rows of a gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.program.gate.rows import FROM, Measured, Row, longest
from analysis.program.latency import answers
from analysis.program.latency.answers import Answered, Wait
from analysis.program.latency.measure import Latencies, SectionTimes, Subject, polls, reasons
from analysis.program.masks.places import Place
from simulator.interrupts import name_of

COMMAND = "latency"
_MASKS = ("primask", "faultmask", "basepri")


def measured(
    subject: Subject, asked: Latencies | None, sections: Sequence[SectionTimes], settings: Mapping[str, str]
) -> Measured:
    """The longest wait of the interrupt, under its handler; the longest for each function that
    kept it waiting; and the longest pass of each section, under the function that it begins in.
    """
    irq = [name_of(asked.question.exception, subject.user.chip)] if asked else []
    begun = [*([asked.beginning] if asked else []), *(one.beginning for one in sections)]
    rows = [*(_waits(subject, asked) if asked else ()), *(_section(subject, one) for one in sections)]
    return Measured(
        command=COMMAND,
        program=subject.user.elf.name,
        settings={
            **settings,
            "options": " ".join(subject.user.options),
            **({FROM: begun[0].asked.settings} if begun else {}),
        },
        kinds=(*irq, *(one.measured.section.name for one in sections)),
        rows=longest(rows),
        refusal=" ".join(reasons(asked, sections)),
        polls=polls(asked, sections),
    )


def _waits(subject: Subject, asked: Latencies) -> Iterator[Row]:
    irq = name_of(asked.question.exception, subject.user.chip)
    own = subject.places.entry(asked.question.exception)
    vector = subject.places.place((asked.answers.handler or 0) & ~1)
    common = subject.places.behind(asked.question.exception)
    entry = own.function if own and common else vector.function
    step = asked.answers.every or 1
    for one in asked.taken:
        place = _words(subject, one)
        yield Row(entry, irq, one.cycles, one.ns(asked.clock), place, step_cycles=step)
        if (by := _by(subject, one.main)) is not None:
            kind, function = by
            yield Row(function, f"{irq} by {kind}", one.cycles, one.ns(asked.clock), place, step_cycles=step)


def _by(subject: Subject, wait: Wait) -> tuple[str, str] | None:
    """What kept it waiting, and in which function; None of what is no program's doing."""
    if wait.cause == "exception" and wait.exception is not None:
        entry = subject.places.entry(wait.exception)
        return "handler", entry.function if entry else subject.places.exception(wait.exception)
    raised = _raised(subject, wait)
    if wait.cause not in _MASKS or raised is None:
        return None
    level = f" {wait.level:#04x}" if wait.level is not None else ""
    return f"{wait.cause}{level}", raised.function


def _raised(subject: Subject, wait: Wait) -> Place | None:
    return None if wait.raised is None else subject.places.place(wait.raised)


def _words(subject: Subject, one: Answered) -> str:
    """`PRIMASK, set at update_table (main.c:56), pended in update_table (main.c:57)`."""
    raised = _raised(subject, one.main)
    set_at = f", set at {raised}" if raised else ""
    return f"{answers.words(one.main, subject.places)}{set_at}, pended in {subject.places.place(one.pc)}"


def _section(subject: Subject, one: SectionTimes) -> Row:
    passed = one.measured.passed
    worst = max(passed, key=lambda each: each.cycles)
    begins, ends = [each.begin for each in passed], [each.end for each in passed]
    begin, end = (subject.places.place(address) for address in (worst.begin_address, worst.end_address))
    ns = float(one.clock.between_ns(begins, ends).max())
    return Row(begin.function, one.measured.section.name, worst.cycles, ns, f"from {begin} to {end}")
