"""The report of masks in words: its first sentences, and its parts."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.program import parts
from analysis.program.masks.measure import AtLevel, MaskReport, OfKind
from analysis.program.masks.worst import Worst
from analysis.program.parts import Part, few, length
from base.metrology.quantiles import Number
from base.microseconds import UNIT, digits

HEADING_OF_NOTES = "Noted and gone on with: what the manual does not allow, or is not modelled"


def as_text(report: MaskReport) -> str:
    """A headline, the kinds, the longest by place, and what each priority waits for."""
    return parts.as_text(opening(report), of_report(report))


def opening(report: MaskReport) -> list[str]:
    """The sentences that come first: why this is not all; the headline; and the notes."""
    stopped = [*report.reasons, *filter(None, [report.polls])]
    return [*stopped, headline(report), *_start_up(report), *report.notes]


def headline(report: MaskReport) -> str:
    """The program, how long it ran, and the longest interval of all from the beginning on."""
    ran = f"{report.subject.name}, {report.cycles:,} cycles"
    after = ""
    if report.start.first_cycle:
        after = f"from {report.start.where} on, " if report.start.time else "after start-up "
    longest = report.longest
    if longest is None:
        return f"{ran}: {after}no interval that held interrupts off has ended."
    return f"{ran}: {after}the longest interval is {_told(longest)}"


def _told(worst: Worst) -> str:
    assert worst.cycles is not None and worst.ns is not None
    return f"{length(worst.cycles, worst.ns)}, {worst.name}, {worst.who}."


def _start_up(report: MaskReport) -> list[str]:
    """What is left out of the headline, and why; nothing where all of the run was asked for."""
    start = report.start
    if start.cycle is None:
        return [f"All of the run counts: it ended before {start.where}{start.because}."]
    if not start.first_cycle:
        return [f"All of the run counts, from reset on{start.because}."] if start.why else []
    text = (
        f"Start-up: the {length(start.cycle, start.ns or 0.0)} until {start.where}{start.because}, "
        "left out of all that follows"
    )
    if report.start_up is None or not report.start_up.worst:
        return [f"{text}; no interval of it has ended."]
    return [f"{text}; its longest interval is {_told(report.start_up.worst[0])}"]


def _time(ns: Number | None) -> str:
    return "" if ns is None else digits(ns)


def of_report(report: MaskReport) -> Iterator[Part]:
    """All parts of which there is something to say."""
    return (part for part in _parts(report) if part.lines or part.sentences)


def _parts(report: MaskReport) -> Iterator[Part]:
    yield Part(
        "Intervals, by kind, in cycles",
        ("kind", "count", "min", "median", "p99", "max", UNIT, "total"),
        list(_kinds(report)),
        numbers=range(1, 8),
        most=50,
    )
    yield Part(
        "The longest at each place, and how many there were",
        ("cycles", UNIT, "×", "what"),
        [(f"{worst.cycles:,}", _time(worst.ns), f"{worst.count:,}", _what(worst)) for worst in report.worst],
        numbers=range(3),
        most=10,
    )
    yield Part(
        "Calls at its beginning, innermost first, and what it held off",
        ("cycles", "calls", "held off"),
        [
            (
                f"{worst.cycles:,}",
                " ← ".join(map(str, worst.stack)),
                ", ".join(worst.held) or "no interrupt that was enabled",
            )
            for worst in report.worst
        ],
        numbers=range(1),
        most=1,
    )
    yield Part(
        "Still open at the end, and not counted",
        ("kind", "since cycle", "raised by"),
        [(worst.name, f"{worst.begin_cycle:,}", str(worst.begin)) for worst in report.open],
        numbers=range(1, 2),
    )
    if report.subject.kernel and report.idle_cycles:
        share = f"{report.idle_cycles / report.counted_cycles:.1%}"
        words = f"{report.subject.kernel.name}'s idle task ran, or the core slept"
        yield Part("Idle", sentences=[f"in {share} of the cycles: {words}"])
    yield Part(
        "Not taken, by priority: everything that holds such an interrupt off",
        ("priority", "count", "longest", UNIT, "total", "interrupts", "what held the longest"),
        [
            (
                f"{row.number} ({row.priority:#04x})",
                f"{row.count:,}",
                f"{row.cycles.max or 0:,}",
                _time(row.worst.ns if row.worst else None),
                f"{row.share:.1%}",
                few(row.exceptions),
                row.worst.held_by if row.worst else "",
            )
            for row in report.used_priorities
        ],
        numbers=range(1, 5),
        most=50,
    )
    yield Part(HEADING_OF_NOTES, sentences=[f"  {note}" for note in report.noted])
    for kind, executed in report.explained.items():
        yield parts.spent(f"Functions of the longest {kind}", executed.functions, executed.cycles)
        yield parts.spent(f"Instructions of the longest {kind}", executed.dearest, executed.cycles)


def _kinds(report: MaskReport) -> Iterator[tuple[str, ...]]:
    for kind, intervals in report.intervals.items():
        rows: tuple[OfKind | AtLevel, ...] = intervals.by_level or (intervals,)
        for row in rows:
            if row.count:
                statistics = (row.cycles.min, row.cycles.median, row.cycles.p99, row.cycles.max)
                yield (
                    row.name if isinstance(row, AtLevel) else kind,
                    f"{row.count:,}",
                    *("-" if value is None else f"{value:,}" for value in statistics),
                    _time(row.ns.max),
                    f"{row.total_cycles / report.counted_cycles:.1%}",
                )


def _what(worst: Worst) -> str:
    """Its kind and its task, then who raised it; and what else its length is made of."""
    task = f", in task {worst.task}" if worst.task else ""
    asleep = f"{worst.asleep_cycles:,} more cycles asleep" if worst.asleep_cycles else ""
    flash = ""
    if worst.stalled_cycles:
        flash = (
            f"for {worst.stalled_cycles:,} of these cycles the core waited for the flash: it was written or "
            "erased"
        )
    return "\n".join(filter(None, (f"{worst.name}{task}", worst.who, asleep, flash)))
