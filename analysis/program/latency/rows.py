"""The latencies and sections of a program as rows that are judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analysis.judge import rows as judged
from analysis.judge.rows import FROM, Row, longest
from analysis.program.latency.answers import Held, Wait
from analysis.program.latency.measure import LatencyReport, Passes, Waits
from analysis.program.places import Places

COMMAND = "latency"
_MASKS = ("primask", "faultmask", "basepri")


def subject(report: LatencyReport, settings: Mapping[str, str]) -> judged.Subject:
    """The longest wait of the interrupt, under its handler; the longest for each function that
    kept it waiting; and the longest pass of each section, under the function that it begins in.
    """
    waits = report.latency
    start = next(measured.start for measured in (waits, *report.sections) if measured)
    return judged.Subject(
        command=COMMAND,
        name=report.subject.name,
        settings={**report.subject.settings, **settings, FROM: start.settings},
        rows=longest([*(_waits(waits) if waits else ()), *map(_section, report.sections)]),
        refusal=" ".join(report.reasons),
        polls=report.polls,
    )


def _waits(waits: Waits) -> Iterator[Row]:
    places, step = waits.places, waits.window.every or 1
    for wait in waits.rows:
        place = f"{Held.of(wait.main, places)}, pended in {places.place(wait.pc)}"
        kinds = [(waits.entry, waits.irq), *_by(places, waits.irq, wait.main)]
        for function, kind in kinds:
            yield Row(function, kind, wait.cycles, wait.ns(waits.clock), place, step_cycles=step)


def _by(places: Places, irq: str, wait: Wait) -> Iterator[tuple[str, str]]:
    """In which function, and what, kept it waiting; nothing of what is no program's doing."""
    if wait.cause == "exception" and wait.exception is not None:
        entry = places.entry(wait.exception)
        yield entry.function if entry else places.exception(wait.exception), f"{irq} by handler"
    elif wait.cause in _MASKS and wait.raised is not None:
        level = f" {wait.level:#04x}" if wait.level is not None else ""
        yield places.place(wait.raised).function, f"{irq} by {wait.cause}{level}"


def _section(passes: Passes) -> Row:
    worst = passes.worst[0]
    place = f"from {worst.begin} to {worst.end}"
    return Row(worst.begin.function, passes.section, worst.cycles, float(passes.ns.max or 0.0), place)
