"""The masks of a program as rows of a gate."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from analysis.program.gate.rows import FROM, Measured, Row, longest
from analysis.program.masks.intervals import KINDS
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.text import held_by, who
from analysis.program.masks.worst import Worst
from simulator.interrupts import priority_bits

COMMAND = "masks"
PRIORITY = "priority"
MASK_KINDS = (*KINDS, PRIORITY)
_RESET = "(reset)"


def measured(found: MaskReport) -> Measured:
    """The longest interval of each kind in each function, also of those that did not end."""
    rows = [*map(_ended, found.worst), *_open(found)]
    return Measured(
        command=COMMAND,
        program=found.program.elf.name,
        settings={
            "until": found.until,
            "options": " ".join(found.program.options),
            FROM: found.beginning.asked.settings,
        },
        kinds=MASK_KINDS,
        rows=longest(rows),
        together=tuple(_priorities(found)),
        refusal=" ".join(found.reasons),
        polls=found.polls,
        priority_bits=priority_bits(found.program.chip),
    )


def _ended(one: Worst) -> Row:
    assert one.cycles is not None and one.ns is not None
    return Row(_function(one), _kind(one), one.cycles, max(one.ns, one.most_ns or 0.0), who(one))


def _open(found: MaskReport) -> Iterator[Row]:
    """Each lasts to the end of the run at least."""
    helpers = {one.begin.function for one in found.worst if _ended_elsewhere(one)}
    for one in found.still_open:
        begin = one.begin_cycle
        asleep = _slept(found, begin) if one.kind in ("primask", "handler") else 0
        function = _caller(one) if one.begin.function in helpers else one.begin.function
        place = f"raised by {one.begin}, still open at the end"
        ns = float(found.clock.between_ns(begin, found.cycles - asleep))
        yield Row(function, _kind(one), found.cycles - begin - asleep, ns, place, open=True)


def _priorities(found: MaskReport) -> Iterator[Row]:
    """How long an interrupt of each priority could not be taken, whatever held it."""
    for one in found.priorities:
        kind, unused = f"{PRIORITY} {one.priority:#04x}", not one.exceptions
        if one.longest and one.begin:
            place = f"from {one.begin} to {one.end}, held by {held_by(one, found.places)}"
            ns = max(one.ended["ns"].max(), 0.0)  # type: ignore[type-var]
            cycles = one.longest["cycles"]
            yield Row(one.begin.function, kind, cycles, float(ns), place, named_only=unused)  # type: ignore[arg-type]
        for row in one.intervals.filter(pl.col("cycles").is_null()).iter_rows(named=True):
            begin = row["begin_cycle"]
            awake = found.cycles - begin - _slept(found, begin)
            ns = float(found.clock.between_ns(begin, begin + awake))
            place = f"since cycle {begin:,}, still not taken at the end"
            yield Row(f"cycle {begin:,}", kind, awake, ns, place, open=True, named_only=unused)


def _slept(found: MaskReport, begin: int) -> int:
    return int(found.slept.within(pl.Series([begin]), pl.Series([found.cycles]))[0])


def _kind(one: Worst) -> str:
    """`basepri 0x50`, with its level; `handler` alone, as the function says which."""
    return one.name if one.kind == "basepri" else one.kind


def _function(one: Worst) -> str:
    """The function whose section it is: who calls a helper that only raises the mask."""
    return _caller(one) if _ended_elsewhere(one) else one.begin.function


def _ended_elsewhere(one: Worst) -> bool:
    if one.kind == "handler" or one.end is None:
        return False
    return one.end.function not in (one.begin.function, _RESET)


def _caller(one: Worst) -> str:
    caller = one.caller
    return one.begin.function if caller is None or caller.interrupted else caller.function
