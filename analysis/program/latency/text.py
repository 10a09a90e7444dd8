"""The report of latencies and sections in words: its first sentences, and its parts; and as rows
that are judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.judge import rows as judged
from analysis.judge.rows import FROM, Row, longest
from analysis.program import parts
from analysis.program.latency.measure import LatencyReport, Long, longest_part, parts_of
from analysis.program.parts import Part, length
from base.microseconds import microseconds

COMMAND = "latency"


def as_text(report: LatencyReport) -> str:
    """The waits, the sections, and the notes."""
    return parts.as_text(_opening(report), _parts(report))


def _opening(report: LatencyReport) -> Iterator[str]:
    yield from report.reasons
    if report.polls:
        yield report.polls
    if (waits := report.latency) is None:
        return
    headline, start = "no pend was answered.", report.start
    if waits.worst:
        worst = waits.worst[0]
        headline = f"the longest wait is {length(worst.cycles, worst.ns)}, {worst.main}."
    yield f"{waits.irq}: {headline}"
    which = "every cycle" if waits.every == 1 else f"one cycle in {waits.every:,}"
    if waits.seed is not None:
        which = f"{waits.pends:,} cycles drawn with seed {waits.seed}"
    yield (
        f"  pended at {which} of {waits.first_cycle:,} to {waits.end_cycle - 1:,}, "
        f"{waits.pends:,} pends, each in a copy of the undisturbed run"
    )
    yield f"  to the first instruction of {waits.handler}"
    if start.cycle is None:
        yield f"  All of the run counts: it ended before {start.where}{start.because}."
    elif start.first_cycle and not start.time:
        yield f"  Start-up, until {start.where}{start.because}, is left out; --from reset counts it."
    if waits.enabled_by == "board":
        yield "  The board enabled it: the program itself may not."
    if waits.taken:
        yield _distribution("latency", waits.cycles, waits.ns)
    if waits.every != 1:
        yield "  The worst may lie between: narrow it by --from, --until or --around, or use --every 1."


def _parts(report: LatencyReport) -> Iterator[Part]:
    for number, wait in enumerate(report.latency.worst if report.latency else (), 1):
        yield Part(
            f"Worst of its kind, {number}: {length(wait.cycles, wait.ns)}, "
            f"pended at cycle {wait.pended:,} in {wait.at}{_task(wait)}",
            ("cycles", "cause"),
            [(f"{held.cycles:,}", str(held)) for held in wait.waits],
            sentences=_calls(wait),
            numbers=range(1),
        )
    for passes in report.sections:
        worst = passes.longest
        left_out = f"  {passes.unpaired:,} beginnings or ends have no partner, and are left out"
        sentences = [
            _distribution("duration", passes.cycles, passes.ns),
            *([left_out] if passes.unpaired else []),
            f"  longest: {length(worst.cycles, worst.ns)} from cycle {worst.begin_cycle:,} on{_task(worst)},",
            f"  from {worst.begin} to {worst.end}",
            *_calls(worst),
        ]
        yield Part(f"{passes.section}: passed {passes.count:,}×", sentences=sentences)
    yield parts.noted(report.noted)


def _task(explained: Long) -> str:
    return f", in task {explained.task}" if explained.task else ""


def _distribution(name: str, cycles: Mapping[str, Any], ns: Mapping[str, Any]) -> str:
    texts = [
        f"{share.replace('_', '.')} {cycles[share]:,}"
        for share in ("min", "median", "p99", "p99_9", "max")
        if cycles[share] is not None
    ]
    return f"  {name} in cycles: {', '.join(texts)} ({microseconds(ns['max'] or 0.0)})"


def _calls(explained: Long) -> list[str]:
    calls = " < ".join(map(str, explained.stack))
    return [f"  calls, innermost first: {calls}"] if calls else []


def subject(report: LatencyReport, settings: Mapping[str, str]) -> judged.Subject:
    """The longest wait of the interrupt, under its handler, and under each function of the program
    that kept it waiting; and the longest pass of each section, under the function that it begins
    in.
    """
    rows = []
    if waits := report.latency:
        places = waits.places
        for wait in waits.rows:
            part = longest_part(parts_of(wait, places))
            place = f"{part}, pended in {places.place(wait.pc)}"
            kinds = [(waits.entry, waits.irq)]
            if part.exception is not None:
                entry = places.entry(part.exception)
                by = entry.function if entry else places.exception(part.exception)
                kinds.append((by, f"{waits.irq} by handler"))
            elif part.raised:
                kinds.append((part.raised.function, f"{waits.irq} by {part.kind}"))
            ns = waits.clock.between_ns(wait.first_pended, wait.taken)
            rows += [Row(*kind, wait.cycles, ns, place, step_cycles=waits.every) for kind in kinds]
    for passes in report.sections:
        worst = passes.longest
        place = f"from {worst.begin} to {worst.end}"
        rows.append(Row(worst.begin.function, passes.section, worst.cycles, passes.ns["max"], place))
    return judged.Subject(
        command=COMMAND,
        name=report.subject.name,
        settings={**report.subject.settings, **settings, FROM: report.start.settings},
        rows=longest(rows),
        refusal=" ".join(report.reasons),
        polls=report.polls,
    )
