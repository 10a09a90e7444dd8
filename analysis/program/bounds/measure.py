"""The bounds of a program's sections and handlers, beside what a run of it saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis.bounds import flash_lines
from analysis.bounds.caches import full
from analysis.bounds.costs import (
    Costs,
    Memory,
)
from analysis.bounds.masks import HANDLER, KINDS, SERVICE_CALL, SOME
from analysis.bounds.parts import longest_loop
from analysis.bounds.price import Price
from analysis.bounds.sections import Sections
from analysis.bounds.segments import Section
from analysis.bounds.stated import Stated
from analysis.errors import NoBoundError
from analysis.explain.kernels import kernel as kernels
from analysis.explain.program import Program
from analysis.program.bounds import stated as files
from analysis.program.bounds.observed import Counted, counted
from analysis.program.bounds.stated import Annotation
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.measure import measure as measure_masks
from analysis.program.masks.places import Place, Places, handlers
from analysis.program.masks.priorities import Exceptions
from base.tell import Tell
from simulator.interrupts import priority_bits
from simulator.program import UserProgram

_RESET = 1
_LOOSE = 100
"""A bound that is so many times what was seen tells of the loop behind it."""


@dataclass(frozen=True)
class Bounded:
    """A section, or a handler as a section of its own, with the most cycles that it can take.

    `cycles` is None without a bound: then `why_not` says what is missing. `level` is BASEPRI's
    value, or the exception of a handler, whose bound has `entry_cycles` to enter it and to return.
    `begin` is where interrupts are held off from, called by `caller` if the function there leaves
    it so; `ends` where they are let in again. It was seen `count` times; `seen` is the longest that
    no handler interrupted, None if there was none. If `presumed` is not empty `cycles` is an
    estimate: it says which loops went round how often in the run.
    """

    kind: str
    level: int
    function: str
    begin: Place
    caller: Place | None
    ends: tuple[Place, ...]
    cycles: int | None
    why_not: tuple[str, ...]
    seen: int | None
    count: int
    path: Price = field(compare=False, default=Price())
    entry_cycles: int = 0
    presumed: tuple[str, ...] = ()


@dataclass(frozen=True)
class AtPriority:
    """How long an interrupt of a priority can be held off: its own entry, the longest `section`
    that holds it off, and each of `handlers` once, which go before it. `cycles` is None if one of
    them has no bound; `missing` names those. `number` is that of the NVIC, 5 for 0x50 of 4 bits.
    There are rows of priorities that none of `exceptions` has, too. `refill`: where a handler comes
    in, what it interrupts may find nothing in the caches of the flash any more.
    """

    priority: int
    number: int
    exceptions: tuple[str, ...]
    cycles: int | None
    entry: int
    refill: int
    section: Bounded | None
    handlers: tuple[Bounded, ...]
    missing: tuple[Bounded, ...]
    seen: int | None

    @property
    def is_estimate(self) -> bool:
        """Whether one of its parts is."""
        return any(
            section.presumed for section in (*self.handlers, *([self.section] if self.section else []))
        )


@dataclass(frozen=True)
class BoundsReport:
    """The bounds of a program: `sections` and `handlers`, those without a bound first.

    `masks` is what the run saw, `code` the program's file. With a `margin` some are estimates:
    `counted` are the loops that these rest on. `annotations` are what was stated of loops and
    calls.
    """

    program: UserProgram
    masks: MaskReport
    code: Program
    costs: Costs
    hz: float
    sections: tuple[Bounded, ...]
    handlers: tuple[Bounded, ...]
    priorities: tuple[AtPriority, ...]
    endless: tuple[Section, ...] = ()
    margin: float | None = None
    counted: tuple[Counted, ...] = ()
    annotations: tuple[Annotation, ...] = ()

    @property
    def all(self) -> tuple[Bounded, ...]:
        """Sections and handlers."""
        return (*self.sections, *self.handlers)

    @property
    def used_priorities(self) -> tuple[AtPriority, ...]:
        """Those that an exception of the run has."""
        return tuple(row for row in self.priorities if row.exceptions)

    @property
    def estimates(self) -> tuple[Bounded, ...]:
        """Those whose figure is no bound."""
        return tuple(section for section in self.all if section.presumed)

    @property
    def complete(self) -> bool:
        """Whether all have a bound."""
        return not self.missing and not self.estimates

    @property
    def missing(self) -> dict[str, int]:
        """Each reason why there is no bound, with how many sections and handlers it stops."""
        missing_by_name: dict[str, int] = {}
        for section in self.all:
            for word in section.why_not:
                missing_by_name[word] = missing_by_name.get(word, 0) + 1
        return dict(sorted(missing_by_name.items(), key=lambda pair: (-pair[1], pair[0])))

    def loose(self, section: Bounded) -> str:
        """Of a bound that is more than 100 times what was seen, the loop behind it, in words;
        else empty.
        """
        if section.cycles is None or not section.seen or section.cycles <= _LOOSE * section.seen:
            return ""
        loop = longest_loop(section.path)
        if loop is None:
            return "no loop is on its longest path"
        place = self.code.source_line(loop.address) or self.code.place(loop.address)
        return f"the loop at {place} in {loop.function} is taken to pass its head {loop.laps:,} times"

    @property
    def violations(self) -> tuple[Bounded | AtPriority, ...]:
        """What took longer than its bound: there must be none."""
        held: tuple[Bounded | AtPriority, ...] = (*self.all, *self.used_priorities)
        return tuple(
            row for row in held if row.cycles is not None and row.seen is not None and row.seen > row.cycles
        )


def bounds(
    program: UserProgram,
    until: str,
    tell: Tell,
    *,
    kernel: str = "",
    stated: Path | None = None,
    wait_states: int | None = None,
    pointers: str = Memory.ANY.value,
    observed: float | None = None,
    flash: str = "seen",
    counts: Mapping[str, int] | None = None,
) -> BoundsReport:
    """Runs `program` up to `until`, and bounds what its code can do. Raises TailscopeError.

    `pointers` is the memory that a pointer goes to of which nothing is known. `flash`: "seen" for
    what FLASH_ACR said at the end of the run, "worst" for an accelerator that is only in the way.
    `counts` are how many tasks, timers and the like there are (Loops of the kernel's file). With
    `observed`, a loop that nothing limits is taken to go round so many times as often as the
    run saw at the most, and what comes of that is an estimate.
    """
    masks = measure_masks(program, until, False, tell, kernel=kernel)
    elf = Program(masks.program.elf, stripped=True)
    if not elf.functions:
        raise NoBoundError(
            f"{masks.program.elf.name} is stripped: without symbols it is not known where its functions "
            "begin; give the file that the linker wrote."
        )
    found_kernel = kernels.find(elf, kernel)
    hz = max(float(span.core_hz) for span in masks.run.stats.clocks)
    costs = _costs(masks, wait_states, Memory(pointers), flash)
    record = files.Record()
    statements = Stated() if stated is None else files.read(stated, elf, record)
    statements = replace(
        statements,
        hints=files.hints(elf, record, found_kernel, counts or {}),
        copied=files.copied(elf, record, found_kernel),
    )
    nesting = found_kernel.nesting if found_kernel else ()
    of_code = Sections(elf, nesting, statements, costs, dict(_vectors(elf)), tell)
    seen = _Seen(masks)
    sections, handlers = _rows(of_code, elf, masks, seen, costs)
    loops: list[Counted] = []
    if observed is not None:
        loops = counted(masks, list(of_code.unlimited.values()), observed)
        by_head = {unlimited.loop.head: unlimited.taken for unlimited in loops}
        of_code.again(replace(statements, observed=by_head.get))
        words = {unlimited.loop.why: unlimited.words() for unlimited in loops}
        never = {unlimited.why for unlimited in of_code.unlimited.values()} - set(words)
        sections, handlers = (
            _estimated(before, after, words, never)
            for before, after in zip(
                (sections, handlers), _rows(of_code, elf, masks, seen, costs), strict=True
            )
        )
    return BoundsReport(
        masks.program,
        masks,
        elf,
        costs,
        hz,
        tuple(sections),
        tuple(handlers),
        tuple(_priorities(masks, sections, handlers, costs)),
        tuple(sorted(of_code.endless.values(), key=lambda section: section.begin)),
        observed,
        tuple(loops),
        record.annotations,
    )


def _rows(
    of_code: Sections, elf: Program, masks: MaskReport, seen: _Seen, costs: Costs
) -> tuple[list[Bounded], list[Bounded]]:
    """Sections and handlers."""
    vectors, places = dict(_vectors(elf)), masks.places
    sections = _sections(of_code.sections(), places, seen)
    keys = {(section.kind, section.begin.address) for section in sections}
    sections = _ordered([*sections, *_not_in_the_code(seen, keys, places)])
    return sections, _handlers(of_code, vectors, places, seen, costs)


def _estimated(
    before: list[Bounded], after: list[Bounded], words: Mapping[str, str], never: set[str]
) -> list[Bounded]:
    """The rows `after`, of which those are estimates that had no bound `before`. `words` say what
    is presumed of loops, and to those of `never` the run did not come.
    """

    def key(row: Bounded) -> tuple[str, int, str, int, int]:
        return row.kind, row.level, row.function, row.begin.address, row.caller.address if row.caller else 0

    bounded = {key(bound): bound for bound in before if bound.cycles is not None}
    why_not = {key(bound): bound.why_not for bound in before}
    sections = []
    for bound in after:
        if bound.cycles is None:
            why = (
                f"{it[:-1]}, and the run did not come to it." if it in never else it for it in bound.why_not
            )
            sections.append(replace(bound, why_not=tuple(why)))
            continue
        if key(bound) in bounded:
            sections.append(bounded[key(bound)])
            continue
        own = tuple(words[why] for why in why_not.get(key(bound), ()) if why in words)
        sections.append(replace(bound, presumed=own or tuple(words.values())))
    return sections


def _costs(masks: MaskReport, wait_states: int | None, unknown: Memory, flash: str) -> Costs:
    stats = masks.run.stats
    memories = flash_lines.of_options(masks.program.options)
    seen = Costs.of_flash(stats.flash_access_control, unknown, memories)
    if flash == "worst":
        seen = replace(seen, prefetch=True, code_cache=False, data_cache=False)
    return replace(
        seen,
        wait_states=seen.wait_states if wait_states is None else wait_states,
        apb_divider=max(stats.apb_dividers),
    )


def _vectors(elf: Program) -> Iterable[tuple[int, int]]:
    """The handlers' entries, by exception; those after the table's end are no functions."""
    for exception, entry in handlers(elf).items():
        function = elf.function_at(entry)
        if exception != _RESET and function is not None and function.address == entry:
            yield exception, entry


def _sections(sections: list[Section], places: Places, seen: _Seen) -> list[Bounded]:
    """One for each place where sections begin."""
    groups: dict[tuple[str, int, int, str], list[Section]] = {}
    for section in sections:
        groups.setdefault(
            (section.kind, section.begin.address, section.begin.call, section.owner), []
        ).append(section)
    rows = []
    for (kind, address, call, owner), ones in groups.items():
        worst = max(ones, key=lambda section: (bool(section.price.why_not), section.price.cycles))
        why_not = sorted({word for section in ones for word in section.price.why_not})
        if any(section.end is None and not section.price.why_not for section in ones):
            why_not.append(f"{owner} returns with interrupts held off, and its callers are not known.")
        longest, count = seen.section(kind, address, call)
        if not why_not and longest is not None and longest > worst.price.cycles:
            # A kernel that has not started keeps its mask past the end that its code shows.
            elsewhere = seen.ends(kind, address) - {section.end.address for section in ones if section.end}
            why_not += [f"A run saw it end at {places.place(end)}, elsewhere." for end in sorted(elsewhere)]
        ends = sorted(
            {places.place(section.end.address) for section in ones if section.end}, key=lambda at: at.address
        )
        level = max(section.level for section in ones)
        rows.append(
            Bounded(
                kind=kind,
                level=level,
                function=owner,
                begin=places.place(address),
                caller=places.place(call) if call else None,
                ends=tuple(ends),
                cycles=None if why_not else worst.price.cycles,
                why_not=tuple(why_not),
                seen=longest,
                count=count,
                path=worst.price,
            )
        )
    return _ordered(rows)


def _not_in_the_code(seen: _Seen, keys: set[tuple[str, int]], places: Places) -> Iterable[Bounded]:
    """What a run saw begin where no section was found in the code."""
    for kind, address in sorted(seen.begun - keys):
        longest, count = seen.section(kind, address, 0)
        place = places.place(address)
        why = f"It begins at {place}, and ends where the code that was followed does not lead."
        yield Bounded(kind, 0, place.function, place, None, (), None, (why,), longest, count)


def _ordered(rows: list[Bounded]) -> list[Bounded]:
    return sorted(
        rows,
        key=lambda section: (
            section.cycles is not None,
            -(section.cycles or 0),
            -(section.seen or 0),
            section.begin.address,
        ),
    )


def _handlers(
    of_code: Sections, vectors: Mapping[int, int], places: Places, seen: _Seen, costs: Costs
) -> list[Bounded]:
    """One for each exception that the run enabled or entered; of others, one for each function."""
    rows: list[Bounded] = []
    others: set[int] = set()
    for exception, entry in vectors.items():
        longest, count = seen.handler(exception)
        if exception not in seen.used:
            if entry in others:
                continue
            others.add(entry)
        try:
            price = of_code.handler(exception, entry)
        except NoBoundError as error:
            price = Price(why_not=frozenset((str(error),)))
        place = places.place(entry)
        own = costs.exception_cycles
        never = not price.cycles and not price.why_not
        if never and exception not in seen.used:
            continue
        why_not = (f"{place.function} never returns.",) if never else tuple(sorted(price.why_not))
        cycles = None if why_not else price.cycles + own
        rows.append(
            Bounded(
                HANDLER,
                exception,
                place.function,
                place,
                None,
                (),
                cycles,
                why_not,
                longest,
                count,
                price,
                own,
            )
        )
    sections = [
        section
        for section in rows
        if section.level in seen.used or not (section.why_not and "never returns" in section.why_not[0])
    ]
    return _ordered(sections)


class _Seen:
    """What a run saw of sections and handlers, where no other handler came in between."""

    def __init__(self, masks: MaskReport) -> None:
        changes = masks.run.changes
        entered = _entered(changes)
        self.used = {number for numbers in Exceptions(changes).priorities().values() for number in numbers}
        self._stacks: dict[int, list[int]] = {}
        for number, _, pc in masks.run.stacks.sort("stack", "depth").iter_rows():
            self._stacks.setdefault(number, []).append(pc)
        table = changes.with_row_index("begin_row").select(pl.col("begin_row").cast(pl.Int64), "pc", "stack")
        timed = masks.all_intervals.filter(pl.col("cycles").is_not_null()).join(table, on="begin_row")
        first = np.searchsorted(entered, timed["begin_row"].to_numpy(), side="right")
        last = np.searchsorted(entered, timed["end_row"].to_numpy(), side="left")
        alone = pl.Series("alone", first >= last)
        self._rows: dict[tuple[str, int, int | None], tuple[int | None, int]] = {}
        # A more urgent level of BASEPRI is an interval within that of the first.
        latest = pl.col("end_row").cum_max().shift(1).over("kind").fill_null(-1)
        masked = timed.sort("begin_row").filter(pl.col("kind").is_in(KINDS), pl.col("end_row") > latest)
        end = changes.with_row_index("end_row").select(pl.col("end_row").cast(pl.Int64), end_pc="pc")
        self._ends: dict[tuple[str, int], set[int]] = {}
        for kind, pc, end_pc in masked.join(end, on="end_row").select("kind", "pc", "end_pc").iter_rows():
            self._ends.setdefault((kind, pc), set()).add(end_pc)
        self.begun: set[tuple[str, int]] = set(masked.select("kind", "pc").unique().iter_rows())
        grouped = (
            timed.with_columns(alone=alone)
            .group_by("kind", "level", "pc", "stack", "alone")
            .agg(pl.col("cycles").max(), pl.len().alias("count"))
        )
        for kind, level, pc, stack, is_alone, cycles, count in grouped.iter_rows():
            keys: set[tuple[str, int, int | None]] = {(kind, pc, None)}
            keys |= {(kind, pc, self._call(address)) for address in self._stacks.get(stack, [])[1:]}
            if kind == HANDLER:
                keys = {(kind, level, None)}
            for key in keys:
                known, before = self._rows.get(key, (None, 0))
                longest = max(known or 0, cycles) if is_alone else known
                self._rows[key] = (longest, before + count)

    def section(self, kind: str, begin: int, call: int) -> tuple[int | None, int]:
        """The longest that began there, and how many did."""
        if not call:
            return self._rows.get((kind, begin, None), (None, 0))
        rows = [self._rows.get((kind, begin, call + size), (None, 0)) for size in (2, 4)]
        return max((row[0] for row in rows if row[0] is not None), default=None), sum(row[1] for row in rows)

    def ends(self, kind: str, begin: int) -> set[int]:
        """The addresses at which those that began there ended."""
        return self._ends.get((kind, begin), set())

    def handler(self, exception: int) -> tuple[int | None, int]:
        """The same of a handler."""
        return self._rows.get((HANDLER, exception, None), (None, 0))

    def _call(self, address: int) -> int:
        return address & ~1


def _entered(changes: pl.DataFrame) -> np.ndarray[Any, Any]:
    """The rows in which a handler is entered or left, but that of SVC, which is called."""
    handlers = changes.with_row_index("row").filter(pl.col("what") == "exception")
    before, after = pl.col("value").shift(1), pl.col("value")
    called = (after == SERVICE_CALL) | ((before == SERVICE_CALL) & (after == pl.col("value").shift(2)))
    return handlers.filter(~called.fill_null(False))["row"].to_numpy()


def _priorities(
    masks: MaskReport, sections: list[Bounded], handlers: list[Bounded], costs: Costs
) -> Iterable[AtPriority]:
    by_number = {level.level: level for level in handlers}
    bits = priority_bits(masks.program.chip)
    priorities = Exceptions(masks.run.changes).priorities(bits)
    entry = costs.entry_cycles
    for priority, numbers in priorities.items():
        holding = [level for level in sections if _holds(level, priority)]
        goes_before = [
            (other, by_number[number])
            for other, them in priorities.items()
            if other <= priority
            for number in them
            if number in by_number
        ]
        before = [level for _, level in goes_before]
        missing = [level for level in (*holding, *before) if level.cycles is None]
        bounded = [level for level in holding if level.cycles is not None]
        longest = max(bounded, key=lambda section: section.cycles or 0, default=None)
        least_urgent = max((other for other, _ in goes_before), default=0)
        in_section = longest is not None and longest.kind == "basepri"
        comes_in = sum(in_section or other < least_urgent for other, _ in goes_before)
        refill = comes_in * full(costs).first_reads(costs, full(costs).fit(costs))
        total = (
            entry + refill + sum(level.cycles or 0 for level in (*before, *([longest] if longest else [])))
        )
        at = next((level for level in masks.priorities if level.priority == priority), None)
        seen = at.longest["cycles"] if at and at.longest else None
        yield AtPriority(
            priority,
            priority >> 8 - bits,
            tuple(masks.places.exception(number) for number in numbers),
            None if missing else total,
            entry,
            refill,
            longest,
            tuple(before),
            tuple(missing),
            seen,
        )


def _holds(section: Bounded, priority: int) -> bool:
    """Whether a section holds an interrupt of that priority off (ARM DDI 0403E, B1.5.4)."""
    if section.kind != "basepri":
        return True
    return section.level in (0, SOME) or section.level <= priority
