"""The report of masks in words: its first sentences, and its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from analysis.judge import rows as judged
from analysis.judge.limits import ANY
from analysis.judge.rows import FROM, Row, Subject, longest
from analysis.program import parts
from analysis.program.masks.intervals import KINDS
from analysis.program.masks.measure import AtLevel, MaskReport, OfKind
from analysis.program.masks.worst import Worst, name_of
from analysis.program.parts import Part, few, length
from base.files.markdown_text import cell
from base.metrology.summaries import Number
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


# The call stacks of masks, for flame graph tools.


def folded(report: MaskReport) -> str:
    """`kind;outermost;…;innermost cycles`, one line for each stack that began an interval.

    Cycles are those of all its intervals that ended. The format is that of Brendan Gregg's
    stackcollapse scripts.
    """
    table = report.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = report.counted_intervals.drop_nulls("cycles").join(table, on="begin_row")
    totals: Counter[str] = Counter()
    for kind, level, pc, stack, cycles in (
        rows.group_by("kind", "level", "pc", "stack").agg(pl.col("cycles").sum()).iter_rows()
    ):
        frames = [frame.function for frame in reversed(report.places.stack(stack, pc))]
        entry = report.places.entry(level) if kind == "handler" else None
        own = [entry.function] if entry else []
        names = (name_of(kind, level, report.places), *frames, *own)
        totals[";".join(name.replace(";", ":") for name in names)] += cycles
    return "".join(f"{stack} {cycles}\n" for stack, cycles in sorted(totals.items()))


# Several builds of a program side by side: of each function the longest of each kind.


_NONE = "-"
Lengths = dict[tuple[str, str], list[Row | None]]


def side_by_side(builds: Sequence[Subject]) -> Lengths:
    """By function and kind the longest in each build, None where it has none; the longest first.

    What the compiler puts behind a name, as in `lock.constprop.0`, makes no other function of it.
    """
    lengths: Lengths = {}
    for number, build in enumerate(builds):
        for row in build.rows:
            key = (row.function.partition(".")[0], row.kind)
            of_builds = lengths.setdefault(key, [None] * len(builds))
            longest = of_builds[number]
            if longest is None or row.cycles > longest.cycles:
                of_builds[number] = row
    return dict(
        sorted(lengths.items(), key=lambda pair: (-max(row.cycles for row in pair[1] if row), pair[0]))
    )


def _part(builds: Sequence[Subject]) -> Part:
    """Function and kind, the cycles of each build, and how much more the last has."""
    headings = ("cycles", *(build.name for build in builds), "change")
    lines = []
    for (function, kind), of_builds in side_by_side(builds).items():
        first, last = of_builds[0], of_builds[-1]
        change = _NONE
        if first and last:
            more = last.cycles - first.cycles
            change = f"{more:+,} ({more / first.cycles:+.1%})" if first.cycles else f"{more:+,}"
        cycles = [f"{'≥ ' if row.open else ''}{row.cycles:,}" if row else _NONE for row in of_builds]
        lines.append((f"{function}: {kind}", *cycles, change))
    return Part("Builds side by side", headings, lines, numbers=range(1, len(headings)))


def builds_as_text(sentences: Sequence[str], builds: Sequence[Subject]) -> str:
    """A table of all rows, a column each build, after the sentences of each."""
    return parts.as_text(sentences, [_part(builds)], everything=True)


def builds_as_markdown(builds: Sequence[Subject]) -> str:
    """The same for a comment on a change."""
    part = _part(builds)
    lines = [part.headings, ("---", *["---:"] * (len(part.headings) - 1)), *part.lines]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


def builds_as_json(builds: Sequence[Subject]) -> list[dict[str, Any]]:
    """A row for each function and kind, with the figures of each build."""
    return [
        {
            "function": function,
            "kind": kind,
            "cycles": [row.cycles if row else None for row in rows],
            "open": [bool(row and row.open) for row in rows],
        }
        for (function, kind), rows in side_by_side(builds).items()
    ]


# The masks of a program as rows that are judged.


COMMAND = "masks"
PRIORITY = "priority"
MASK_KINDS = (*KINDS, PRIORITY, ANY)


def subject(report: MaskReport) -> judged.Subject:
    """The longest interval of each kind in each function, also of those that did not end."""
    return judged.Subject(
        command=COMMAND,
        name=report.subject.name,
        settings={**report.subject.settings, FROM: report.start.settings},
        rows=longest([*map(_ended, report.worst), *_open(report)]),
        together=tuple(_priorities(report)),
        refusal=" ".join(report.reasons),
        polls=report.polls,
        priority_bits=report.subject.priority_bits,
    )


def _ended(interval: Worst) -> Row:
    assert interval.cycles is not None and interval.ns is not None
    ns = max(interval.ns, interval.most_ns or 0.0)
    return Row(interval.function, _kind(interval), interval.cycles, ns, interval.who)


def _open(report: MaskReport) -> Iterator[Row]:
    """Each lasts to the end of the run at least."""
    helpers = {row.begin.function for row in report.worst if row.function != row.begin.function}
    for interval in report.open:
        asleep = _slept(report, interval.begin_cycle) if interval.kind in ("primask", "handler") else 0
        function = interval.user if interval.begin.function in helpers else interval.begin.function
        cycles, ns = _awake(report, interval.begin_cycle, asleep)
        place = f"raised by {interval.begin}, still open at the end"
        yield Row(function, _kind(interval), cycles, ns, place, open=True)


def _priorities(report: MaskReport) -> Iterator[Row]:
    """How long an interrupt of each priority could not be taken, whatever held it."""
    for level in report.priorities:
        kind, unused, worst = f"{PRIORITY} {level.priority:#04x}", not level.exceptions, level.worst
        if worst:
            place = f"from {worst.begin} to {worst.end}, held by {worst.held_by}"
            ns = max(level.ns.max or 0.0, 0.0)
            yield Row(worst.begin.function, kind, worst.cycles, ns, place, named_only=unused)
        for begin in level.intervals.filter(pl.col("cycles").is_null())["begin_cycle"]:
            cycles, ns = _awake(report, begin, _slept(report, begin))
            place = f"since cycle {begin:,}, still not taken at the end"
            yield Row(f"cycle {begin:,}", kind, cycles, ns, place, open=True, named_only=unused)


def _awake(report: MaskReport, begin: int, asleep: int) -> tuple[int, float]:
    """From a cycle to the end of the run, in cycles and ns."""
    return report.cycles - begin - asleep, float(report.clock.between_ns(begin, report.cycles - asleep))


def _slept(report: MaskReport, begin: int) -> int:
    return int(report.slept.within(pl.Series([begin]), pl.Series([report.cycles]))[0])


def _kind(interval: Worst) -> str:
    """`basepri 0x50`, with its level; `handler` alone, as the function says which."""
    return interval.name if interval.kind == "basepri" else interval.kind
