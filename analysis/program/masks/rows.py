"""The masks of a program as rows that are judged."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from analysis.judge import rows as judged
from analysis.judge.limits import ANY
from analysis.judge.rows import FROM, Row, longest
from analysis.program.masks.intervals import KINDS
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.worst import Worst

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
