"""The latencies and sections of a program as rows that are judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.judge.rows import FROM, Row, Subject, longest
from analysis.program.latency import answers
from analysis.program.latency.answers import Answered, Wait
from analysis.program.latency.measure import Latencies, SectionTimes, polls, reasons
from analysis.program.latency.measure import Subject as Program
from analysis.program.masks.places import Place
from simulator.interrupts import name_of

COMMAND = "latency"
_MASKS = ("primask", "faultmask", "basepri")


def subject(
    program: Program,
    latencies: Latencies | None,
    sections: Sequence[SectionTimes],
    settings: Mapping[str, str],
) -> Subject:
    """The longest wait of the interrupt, under its handler; the longest for each function that
    kept it waiting; and the longest pass of each section, under the function that it begins in.
    """
    beginnings = [
        *([latencies.beginning] if latencies else []),
        *(section.beginning for section in sections),
    ]
    waits = _waits(program, latencies) if latencies else ()
    rows = [*waits, *(_section(program, section) for section in sections)]
    return Subject(
        command=COMMAND,
        name=program.user.elf.name,
        settings={
            **settings,
            "options": " ".join(program.user.options),
            **({FROM: beginnings[0].asked.settings} if beginnings else {}),
        },
        rows=longest(rows),
        refusal=" ".join(reasons(latencies, sections)),
        polls=polls(latencies, sections),
    )


def _waits(program: Program, latencies: Latencies) -> Iterator[Row]:
    irq = name_of(latencies.question.exception, program.user.chip)
    own = program.places.entry(latencies.question.exception)
    vector = program.places.place((latencies.answers.handler or 0) & ~1)
    common = program.places.behind(latencies.question.exception)
    entry = own.function if own and common else vector.function
    step = latencies.answers.every or 1
    for wait in latencies.taken:
        place, ns = _words(program, wait), wait.ns(latencies.clock)
        yield Row(entry, irq, wait.cycles, ns, place, step_cycles=step)
        if (by := _by(program, wait.main)) is not None:
            kind, function = by
            yield Row(function, f"{irq} by {kind}", wait.cycles, ns, place, step_cycles=step)


def _by(program: Program, wait: Wait) -> tuple[str, str] | None:
    """What kept it waiting, and in which function; None of what is no program's doing."""
    if wait.cause == "exception" and wait.exception is not None:
        entry = program.places.entry(wait.exception)
        return "handler", entry.function if entry else program.places.exception(wait.exception)
    raised = _raised(program, wait)
    if wait.cause not in _MASKS or raised is None:
        return None
    level = f" {wait.level:#04x}" if wait.level is not None else ""
    return f"{wait.cause}{level}", raised.function


def _raised(program: Program, wait: Wait) -> Place | None:
    return None if wait.raised is None else program.places.place(wait.raised)


def _words(program: Program, wait: Answered) -> str:
    """`PRIMASK, set at update_table (main.c:56), pended in update_table (main.c:57)`."""
    raised = _raised(program, wait.main)
    set_at = f", set at {raised}" if raised else ""
    return f"{answers.words(wait.main, program.places)}{set_at}, pended in {program.places.place(wait.pc)}"


def _section(program: Program, section: SectionTimes) -> Row:
    passed = section.measured.passed
    worst = max(passed, key=lambda each: each.cycles)
    begins, ends = [each.begin for each in passed], [each.end for each in passed]
    begin, end = (program.places.place(address) for address in (worst.begin_address, worst.end_address))
    ns = float(section.clock.between_ns(begins, ends).max())
    return Row(begin.function, section.measured.section.name, worst.cycles, ns, f"from {begin} to {end}")
