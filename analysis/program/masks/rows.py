"""The masks of a program as rows that are judged."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from analysis.judge.limits import ANY
from analysis.judge.rows import FROM, Row, Subject, longest
from analysis.program.masks.intervals import KINDS
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.text import held_by, who
from analysis.program.masks.worst import Worst
from simulator.interrupts import priority_bits

COMMAND = "masks"
PRIORITY = "priority"
MASK_KINDS = (*KINDS, PRIORITY, ANY)
_RESET = "(reset)"


def subject(report: MaskReport) -> Subject:
    """The longest interval of each kind in each function, also of those that did not end."""
    rows = [*map(_ended, report.worst), *_open(report)]
    return Subject(
        command=COMMAND,
        name=report.program.elf.name,
        settings={
            "until": report.until,
            "options": " ".join(report.program.options),
            FROM: report.beginning.asked.settings,
        },
        rows=longest(rows),
        together=tuple(_priorities(report)),
        refusal=" ".join(report.reasons),
        polls=report.polls,
        priority_bits=priority_bits(report.program.chip),
    )


def _ended(interval: Worst) -> Row:
    assert interval.cycles is not None and interval.ns is not None
    ns = max(interval.ns, interval.most_ns or 0.0)
    return Row(_function(interval), _kind(interval), interval.cycles, ns, who(interval))


def _open(report: MaskReport) -> Iterator[Row]:
    """Each lasts to the end of the run at least."""
    helpers = {interval.begin.function for interval in report.worst if _ended_elsewhere(interval)}
    for interval in report.still_open:
        begin = interval.begin_cycle
        asleep = _slept(report, begin) if interval.kind in ("primask", "handler") else 0
        function = _caller(interval) if interval.begin.function in helpers else interval.begin.function
        place = f"raised by {interval.begin}, still open at the end"
        ns = float(report.clock.between_ns(begin, report.cycles - asleep))
        yield Row(function, _kind(interval), report.cycles - begin - asleep, ns, place, open=True)


def _priorities(report: MaskReport) -> Iterator[Row]:
    """How long an interrupt of each priority could not be taken, whatever held it."""
    for level in report.priorities:
        kind, unused = f"{PRIORITY} {level.priority:#04x}", not level.exceptions
        if level.longest and level.begin:
            place = f"from {level.begin} to {level.end}, held by {held_by(level, report.places)}"
            ns = max(level.ended["ns"].max(), 0.0)  # type: ignore[type-var]
            cycles = level.longest["cycles"]
            yield Row(level.begin.function, kind, cycles, float(ns), place, named_only=unused)  # type: ignore[arg-type]
        for row in level.intervals.filter(pl.col("cycles").is_null()).iter_rows(named=True):
            begin = row["begin_cycle"]
            awake = report.cycles - begin - _slept(report, begin)
            ns = float(report.clock.between_ns(begin, begin + awake))
            place = f"since cycle {begin:,}, still not taken at the end"
            yield Row(f"cycle {begin:,}", kind, awake, ns, place, open=True, named_only=unused)


def _slept(report: MaskReport, begin: int) -> int:
    return int(report.slept.within(pl.Series([begin]), pl.Series([report.cycles]))[0])


def _kind(interval: Worst) -> str:
    """`basepri 0x50`, with its level; `handler` alone, as the function says which."""
    return interval.name if interval.kind == "basepri" else interval.kind


def _function(interval: Worst) -> str:
    """The function whose section it is: who calls a helper that only raises the mask."""
    return _caller(interval) if _ended_elsewhere(interval) else interval.begin.function


def _ended_elsewhere(interval: Worst) -> bool:
    if interval.kind == "handler" or interval.end is None:
        return False
    return interval.end.function not in (interval.begin.function, _RESET)


def _caller(interval: Worst) -> str:
    caller = interval.caller
    return interval.begin.function if caller is None or caller.interrupted else caller.function
