"""The report of masks in words: its first sentences, and its parts; and as rows that are judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from analysis.judge import rows as judged
from analysis.judge.limits import ANY
from analysis.judge.rows import FROM, Row, longest
from analysis.program import parts
from analysis.program.masks.log import KINDS, within
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.worst import Worst, name_of
from analysis.program.parts import Part, few, length
from base.microseconds import UNIT, digits

COMMAND = "masks"
PRIORITY = "priority"
MASK_KINDS = (*KINDS, PRIORITY, ANY)
_NONE = "-"


def as_text(report: MaskReport) -> str:
    """A headline, the kinds, the longest by place, and what each priority waits for."""
    return parts.as_text(opening(report), of_report(report))


def opening(report: MaskReport) -> Iterator[str]:
    """The sentences that come first: why this is not all; the headline; what is left out of it,
    and why; and the notes.
    """
    start = report.start
    yield from report.reasons
    if report.polls:
        yield report.polls
    yield headline(report)
    if start.cycle is None or (start.why and not start.first_cycle):
        yield f"All of the run counts{start.because}."
    elif start.first_cycle:
        longest = f" Its longest interval is {_told(report.start_up[0])}" if report.start_up else ""
        yield (
            f"Start-up, the {length(start.cycle, start.ns or 0.0)} until {start.where}{start.because}, is "
            f"left out of all that follows.{longest}"
        )
    yield from report.notes


def headline(report: MaskReport) -> str:
    """The program, how long it ran, and the longest interval of all from the beginning on."""
    after = "after start-up " if report.start.first_cycle else ""
    what = "no interval that held interrupts off has ended."
    if report.longest:
        what = f"the longest interval is {_told(report.longest)}"
    return f"{report.subject.name}, {report.cycles:,} cycles: {after}{what}"


def _told(worst: Worst) -> str:
    return f"{length(worst.cycles or 0, worst.ns or 0.0)}, {worst.name}, {worst.who}."


def of_report(report: MaskReport) -> Iterator[Part]:
    """All parts."""
    yield Part(
        "Intervals, by kind, in cycles",
        ("kind", "count", "min", "median", "p99", "max", UNIT, "total"),
        [
            (
                row.name,
                f"{row.count:,}",
                *(
                    _NONE if row.cycles[name] is None else f"{row.cycles[name]:,}"
                    for name in ("min", "median", "p99", "max")
                ),
                digits(row.ns["max"]),
                f"{row.total_cycles / report.counted_cycles:.1%}",
            )
            for intervals in report.intervals.values()
            for row in intervals.by_level or (intervals,)
            if row.count
        ],
        numbers=range(1, 8),
        most=50,
    )
    yield Part(
        "The longest at each place, and how many there were",
        ("cycles", UNIT, "×", "what"),
        [
            (f"{row.cycles:,}", digits(row.ns or 0.0), f"{row.count:,}", "\n".join(_what(row)))
            for row in report.worst
        ],
        numbers=range(3),
        most=10,
    )
    yield Part(
        "Calls at its beginning, innermost first, and what it held off",
        ("cycles", "calls", "held off"),
        [
            (
                f"{row.cycles:,}",
                " ← ".join(map(str, row.stack)),
                ", ".join(row.held) or "no interrupt that was enabled",
            )
            for row in report.worst
        ],
        numbers=range(1),
        most=1,
    )
    yield Part(
        "Still open at the end, and not counted",
        ("kind", "since cycle", "raised by"),
        [(row.name, f"{row.begin_cycle:,}", str(row.begin)) for row in report.open],
        numbers=range(1, 2),
    )
    yield Part(
        "Not taken, by priority: everything that holds such an interrupt off",
        ("priority", "count", "longest", UNIT, "total", "interrupts", "what held the longest"),
        [
            (
                f"{row.number} ({row.priority:#04x})",
                f"{row.count:,}",
                f"{row.cycles['max'] or 0:,}",
                digits(row.worst.ns) if row.worst else "",
                f"{row.share:.1%}",
                few(row.exceptions),
                row.worst.held_by if row.worst else "",
            )
            for row in report.used_priorities
        ],
        numbers=range(1, 5),
        most=50,
    )
    yield parts.noted(report.noted)
    for kind, executed in report.explained.items():
        yield parts.spent(f"Functions of the longest {kind}", executed.functions, executed.cycles)
        yield parts.spent(f"Instructions of the longest {kind}", executed.dearest, executed.cycles)


def _what(worst: Worst) -> Iterator[str]:
    """Its kind and its task, then who raised it; and what else its length is made of."""
    yield f"{worst.name}, in task {worst.task}" if worst.task else worst.name
    yield worst.who
    if worst.asleep_cycles:
        yield f"{worst.asleep_cycles:,} more cycles asleep"


def folded(report: MaskReport) -> str:
    """`kind;outermost;…;innermost cycles`, one line for each stack that began an interval, in the
    format of Brendan Gregg's stackcollapse scripts. Cycles are of all its intervals that ended.
    """
    places, totals = report.places, Counter[str]()
    for it in report.counted_intervals:
        began = report.run.changes[it.begin_row]
        frames = [frame.function for frame in reversed(places.stack(began.stack, began.pc))]
        entry = places.entry(it.level) if it.kind == "handler" and it.level else None
        names = (name_of(it.kind, it.level, places), *frames, *([entry.function] if entry else []))
        totals[";".join(name.replace(";", ":") for name in names)] += it.cycles or 0
    return "".join(f"{stack} {cycles}\n" for stack, cycles in sorted(totals.items()) if cycles)


def side_by_side(builds: Sequence[judged.Subject]) -> list[dict[str, Any]]:
    """Several builds of a program: by function and kind the longest of each in cycles, None where
    it has none, and whether it is open; the longest first.

    What the compiler puts behind a name, as in `lock.constprop.0`, makes no other function of it.
    """
    longest: dict[tuple[str, str], list[Row | None]] = {}
    for number, build in enumerate(builds):
        for row in build.rows:  # the longest first
            of_builds = longest.setdefault((row.function.partition(".")[0], row.kind), [None] * len(builds))
            of_builds[number] = of_builds[number] or row
    rows = [
        {
            "function": function,
            "kind": kind,
            "cycles": [row.cycles if row else None for row in of_builds],
            "open": [bool(row and row.open) for row in of_builds],
        }
        for (function, kind), of_builds in longest.items()
    ]
    return sorted(rows, key=lambda row: (-max(filter(None, row["cycles"]), default=0), row["function"]))


def of_builds(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> Part:
    """The same as a table: the cycles of each build, and how much more the last has."""
    lines = []
    for row in rows:
        first, *_, last = row["cycles"]
        change = f"{last - first:+,} ({(last - first) / first:+.1%})" if first and last is not None else _NONE
        cells = (
            _NONE if cycles is None else f"{'≥ ' * still_open}{cycles:,}"
            for cycles, still_open in zip(row["cycles"], row["open"], strict=True)
        )
        lines.append((f"{row['function']}: {row['kind']}", *cells, change))
    return Part("Builds side by side", ("cycles", *names, "change"), lines, numbers=range(1, len(names) + 2))


def subject(report: MaskReport) -> judged.Subject:
    """The longest interval of each kind in each function, also of those that did not end; and how
    long an interrupt of each priority could not be taken, whatever held it.
    """
    rows = []
    helpers = {row.begin.function for row in report.worst if row.function != row.begin.function}
    for section in (*report.worst, *report.open):
        # With its level; of a handler the function says which.
        kind = section.name if section.kind == "basepri" else section.kind
        if section.cycles is not None:
            row = Row(section.function, kind, section.cycles, section.most_ns or 0.0, section.who)
        else:
            function = section.user if section.begin.function in helpers else section.begin.function
            place = f"raised by {section.begin}, still open at the end"
            row = _to_the_end(report, function, kind, section.begin_cycle, section.asleep_cycles, place)
        rows.append(row)
    together = []
    for level in report.priorities:
        kind, unused, worst = f"{PRIORITY} {level.priority:#04x}", not level.exceptions, level.worst
        if worst:
            function, place = (
                worst.begin.function,
                f"from {worst.begin} to {worst.end}, held by {worst.held_by}",
            )
            together.append(Row(function, kind, worst.cycles, level.ns["max"], place, named_only=unused))
        for it in level.intervals:
            if it.end_cycle is None:
                begin = f"cycle {it.begin_cycle:,}"
                asleep = within(report.slept, it.begin_cycle, report.cycles)
                place = f"since {begin}, still not taken at the end"
                row = _to_the_end(report, begin, kind, it.begin_cycle, asleep, place)
                together.append(replace(row, named_only=unused))
    return judged.Subject(
        command=COMMAND,
        name=report.subject.name,
        settings={**report.subject.settings, FROM: report.start.settings},
        rows=longest(rows),
        together=tuple(together),
        refusal=" ".join(report.reasons),
        polls=report.polls,
        priority_bits=report.subject.priority_bits,
    )


def _to_the_end(report: MaskReport, function: str, kind: str, begin: int, asleep: int, place: str) -> Row:
    """The row of what is open: it lasts to the end of the run at least, as long as it was awake."""
    ns = report.clock.between_ns(begin, report.cycles - asleep)
    return Row(function, kind, report.cycles - begin - asleep, ns, place, open=True)
