"""The bounds of a program's sections and handlers, beside what a run of it saw; and the longest
path of one of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from analysis.bounds.caches import full
from analysis.bounds.costs import Costs, Memory, of_options
from analysis.bounds.cut import Section
from analysis.bounds.price import Block, Price, dearness, spent
from analysis.bounds.sections import Sections
from analysis.bounds.state import HANDLER, KINDS, SERVICE_CALL, SOME
from analysis.errors import NoBoundError
from analysis.program.bounds import loops_file as files
from analysis.program.bounds.loops_file import LIBRARY, Record
from analysis.program.masks.measure import MaskReport
from analysis.program.masks.measure import measure as measure_masks
from analysis.program.parts import Hidden, fields_of
from analysis.program.places import Place
from analysis.program.places import handlers as handlers_of
from analysis.program.subject import Subject
from base.files.errors import near_miss
from base.tell import Tell

_RESET = 1
_NS_PER_S = 1e9
_NAMES = {"cycles": "bound_cycles", "ns": "bound_ns", "seen": "seen_cycles"}


@dataclass(frozen=True)
class Bounded:
    """A section, or a handler as a section of its own, with the most cycles that it can take.

    `cycles` is None without a bound: then `why_not` says what is missing. `level` is BASEPRI's
    value, or the exception of a handler, whose bound has `entry_cycles` to enter it and to return.
    `begin` is where interrupts are held off from, called by `caller` if the function there leaves
    it so; `ends` where they are let in again. It was seen `count` times; `seen` is the longest that
    no handler interrupted, None if there was none.
    """

    NAMES: ClassVar = _NAMES
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
    path: Hidden[Price] = field(compare=False, default=Price())
    entry_cycles: Hidden[int] = 0
    ns: float | None = None

    @property
    def shown_kind(self) -> str:
        """`basepri 0x50`, with its level as far as it is known."""
        has_level = self.kind == "basepri" and 0 < self.level < SOME
        return f"{self.kind} {self.level:#04x}" if has_level else self.kind

    def __str__(self) -> str:
        """`basepri 0x50, raised by f (f.c:12), called by g (g.c:3)`."""
        if self.kind == HANDLER:
            return f"handler {self.begin}"
        basepri = "basepri of any level" if self.level >= SOME else f"basepri {self.level:#04x}"
        called = f", called by {self.caller}" if self.caller else ""
        return f"{basepri if self.kind == 'basepri' else self.kind}, raised by {self.begin}{called}"


@dataclass(frozen=True)
class AtPriority:
    """How long an interrupt of a priority can be held off: its own entry, the longest `section`
    that holds it off, and each of `handlers` once, which go before it. `cycles` is None if one of
    them has no bound; `missing` names those. `number` is that of the NVIC, 5 for 0x50 of 4 bits.
    There are rows of priorities that none of `exceptions` has, too. `refill`: where a handler comes
    in, what it interrupts may find nothing in the caches of the flash any more.
    """

    NAMES: ClassVar = {**_NAMES, "entry": "entry_cycles", "refill": "refill_cycles"}
    priority: int
    number: int
    exceptions: tuple[str, ...]
    cycles: int | None
    ns: float | None
    entry: int
    refill: int
    section: Hidden[Bounded | None]
    handlers: Hidden[tuple[Bounded, ...]]
    missing: Hidden[tuple[Bounded, ...]]
    seen: int | None

    def as_json(self) -> dict[str, Any]:
        """What the document has of it."""
        return {
            **fields_of(self),
            "section_cycles": self.section and self.section.cycles,
            "handlers": {row.function: row.cycles for row in self.handlers},
            "missing": [f"{row.kind} of {row.function}" for row in self.missing],
        }

    @property
    def numbered(self) -> str:
        """`5 (0x50)`: the NVIC's number, and its byte."""
        return f"{self.number} ({self.priority:#04x})"

    def __str__(self) -> str:
        """`priority 8 (0x80) (IRQ 6)`."""
        return f"priority {self.numbered} ({', '.join(self.exceptions) or 'no interrupt'})"


@dataclass(frozen=True, kw_only=True)
class BoundsReport:
    """The bounds of a program: `sections` and `handlers`, those without a bound first.

    `masks` is what the run saw. `annotations` are what was stated of loops and calls; of the
    compiler's library what was of use.
    """

    NAMES: ClassVar = {"hz": "clock_hz"}
    subject: Hidden[Subject]
    masks: Hidden[MaskReport]
    cycles: int
    hz: float
    costs: Hidden[Costs]
    sections: tuple[Bounded, ...]
    handlers: tuple[Bounded, ...]
    priorities: tuple[AtPriority, ...]
    endless: Hidden[tuple[Section, ...]] = ()
    annotations: Hidden[Record] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Bounded, ...]:
        """Sections and handlers."""
        return (*self.sections, *self.handlers)

    @property
    def bounded(self) -> list[Bounded]:
        """Those of them with a figure."""
        return [row for row in self.all if row.cycles is not None]

    @property
    def unbounded(self) -> list[Bounded]:
        """Those of them without."""
        return [row for row in self.all if row.cycles is None]

    @property
    def used_priorities(self) -> tuple[AtPriority, ...]:
        """Those that an exception of the run has."""
        return tuple(row for row in self.priorities if row.exceptions)

    @property
    def missing(self) -> dict[str, int]:
        """Each reason why there is no bound, with how many sections and handlers it stops."""
        reasons = Counter(word for section in self.all for word in section.why_not)
        return dict(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])))

    @property
    def violations(self) -> tuple[Bounded | AtPriority, ...]:
        """What took longer than its bound: there must be none."""
        held: tuple[Bounded | AtPriority, ...] = (*self.all, *self.used_priorities)
        return tuple(
            row for row in held if row.cycles is not None and row.seen is not None and row.seen > row.cycles
        )


def bounds(
    subject: Subject,
    tell: Tell,
    *,
    loops_file: Path | None = None,
    wait_states: int | None = None,
    pointers: str = Memory.ANY.value,
    flash: str = "seen",
    counts: Mapping[str, int] | None = None,
) -> BoundsReport:
    """Runs the program, and bounds what its code can do. Raises TailscopeError.

    `pointers` is the memory that a pointer goes to of which nothing is known. `flash`: "seen" for
    what FLASH_ACR said at the end of the run, "worst" for an accelerator that is only in the way.
    `counts` are how many tasks, timers and the like there are (Loops of the kernel's file).
    """
    elf, kernel = subject.elf, subject.kernel
    if not elf.functions:
        raise NoBoundError(
            f"{subject.name} is stripped: without symbols it is not known where its functions "
            "begin; give the file that the linker wrote."
        )
    masks = measure_masks(subject, False, tell)
    stats = masks.run.stats
    unknown = Memory(pointers)
    costs = Costs.of_flash(stats.flash_access_control, unknown, of_options(subject.user.options))
    if flash == "worst":
        costs = replace(costs, prefetch=True, code_cache=False, data_cache=False)
    costs = replace(
        costs,
        wait_states=costs.wait_states if wait_states is None else wait_states,
        apb_divider=max(stats.apb_dividers),
    )
    record: Record = {}
    statements = files.stated(loops_file, elf, record, kernel, counts or {})
    # The handlers' entries, by exception; those after the table's end are no functions.
    vectors = {
        exception: entry
        for exception, entry in handlers_of(elf).items()
        if exception != _RESET and (function := elf.function_at(entry)) and function.address == entry
    }
    of_code = Sections(elf, kernel.nesting if kernel else (), statements, costs, vectors, tell)
    seen = _Seen(masks)
    sections = _ordered(masks, _sections(of_code, masks, seen))
    handlers = _ordered(masks, _handlers(of_code, masks, seen, vectors, costs.exception_cycles))
    return BoundsReport(
        subject=subject,
        masks=masks,
        cycles=masks.cycles,
        hz=masks.clock.fastest_hz,
        costs=costs,
        sections=sections,
        handlers=handlers,
        priorities=tuple(_priorities(masks, sections, handlers, costs)),
        endless=tuple(sorted(of_code.endless.values(), key=lambda section: section.begin)),
        annotations={note: used for note, used in record.items() if used or note.source != LIBRARY.name},
    )


class _Seen:
    """What a run saw of sections and handlers, where no other handler came in between."""

    def __init__(self, masks: MaskReport) -> None:
        changes = masks.run.changes
        # The rows in which a handler is entered or left, but that of SVC, which is called.
        entered: list[int] = []
        before = last = None
        for number, change in enumerate(changes):
            if change.what == "exception":
                if change.value != SERVICE_CALL and (last != SERVICE_CALL or change.value != before):
                    entered.append(number)
                before, last = last, change.value
        # By where it began, or the exception of a handler, and by each return address on the stack,
        # the lengths, None where a handler came into it; and the addresses where it ended.
        self._lengths: dict[tuple[str, int, int], list[int | None]] = {}
        self.ends: dict[tuple[str, int], set[int]] = {}
        latest: dict[str, int] = {}
        for it in masks.all_intervals:
            if it.cycles is None or it.end_row is None:
                continue
            began, is_handler = changes[it.begin_row], it.kind == HANDLER
            at = (it.level or 0) if is_handler else began.pc
            alone = bisect_right(entered, it.begin_row) >= bisect_left(entered, it.end_row)
            stack = () if is_handler or began.stack is None else masks.run.stacks.get(began.stack, ())
            for back in {0, *(address & ~1 for address in stack[1:])}:
                self._lengths.setdefault((it.kind, at, back), []).append(it.cycles if alone else None)
            # A more urgent level of BASEPRI is an interval within that of the first.
            if it.kind in KINDS and it.end_row > latest.get(it.kind, -1):
                self.ends.setdefault((it.kind, at), set()).add(changes[it.end_row].pc)
                latest[it.kind] = it.end_row

    def longest(self, kind: str, at: int, call: int = 0) -> tuple[int | None, int]:
        """The longest that was seen from there, called so, and how many there were."""
        backs = (call + 2, call + 4) if call else (0,)
        lengths = [length for back in backs for length in self._lengths.get((kind, at, back), ())]
        return max((length for length in lengths if length is not None), default=None), len(lengths)


def _sections(code: Sections, masks: MaskReport, seen: _Seen) -> Iterator[Bounded]:
    """One for each place where sections begin, in the code or in the run."""
    place = masks.places.place
    groups: dict[tuple[str, int, int, str], list[Section]] = {}
    for section in code.sections():
        key = (section.kind, section.begin.address, section.begin.call, section.owner)
        groups.setdefault(key, []).append(section)
    for (kind, address, call, owner), sections in groups.items():
        worst = max((section.price for section in sections), key=dearness)
        why_not = sorted({word for section in sections for word in section.price.why_not})
        if any(section.end is None and not section.price.why_not for section in sections):
            why_not.append(f"{owner} returns with interrupts held off, and its callers are not known.")
        longest, count = seen.longest(kind, address, call)
        ends = {section.end.address for section in sections if section.end}
        if not why_not and longest is not None and longest > worst.cycles:
            # A kernel that has not started keeps its mask past the end that its code shows.
            elsewhere = sorted(seen.ends.get((kind, address), set()) - ends)
            why_not += [f"A run saw it end at {place(end)}, elsewhere." for end in elsewhere]
        yield Bounded(
            kind=kind,
            level=max(section.level for section in sections),
            function=owner,
            begin=place(address),
            caller=place(call) if call else None,
            ends=tuple(map(place, sorted(ends))),
            cycles=None if why_not else worst.cycles,
            why_not=tuple(why_not),
            seen=longest,
            count=count,
            path=worst,
        )
    # What a run saw begin where no section was found in the code.
    for kind, address in sorted(seen.ends.keys() - {key[:2] for key in groups}):
        begin = place(address)
        why = f"It begins at {begin}, and ends where the code that was followed does not lead."
        longest, count = seen.longest(kind, address)
        yield Bounded(kind, 0, begin.function, begin, None, (), None, (why,), longest, count)


def _handlers(
    code: Sections, masks: MaskReport, seen: _Seen, vectors: Mapping[int, int], own: int
) -> Iterator[Bounded]:
    """One for each exception that the run used; of others, one for each function. To enter one and
    to return takes `own` cycles.
    """
    others: dict[int, int] = {}
    exceptions = {number for row in masks.priorities for number in row.numbers}
    for exception, entry in vectors.items():
        used = exception in exceptions
        if not used and others.setdefault(entry, exception) != exception:
            continue
        try:
            price = code.handler(entry)
        except NoBoundError as error:
            price = Price(why_not=frozenset((str(error),)))
        place = masks.places.place(entry)
        never = not price.cycles and not price.why_not
        if never and not used:
            continue
        why_not = (f"{place.function} never returns.",) if never else tuple(sorted(price.why_not))
        longest, count = seen.longest(HANDLER, exception)
        yield Bounded(
            kind=HANDLER,
            level=exception,
            function=place.function,
            begin=place,
            caller=None,
            ends=(),
            cycles=None if why_not else price.cycles + own,
            why_not=why_not,
            seen=longest,
            count=count,
            path=price,
            entry_cycles=own,
        )


def _ordered(masks: MaskReport, rows: Iterable[Bounded]) -> tuple[Bounded, ...]:
    return tuple(
        replace(row, ns=_ns(masks, row.cycles))
        for row in sorted(
            rows,
            key=lambda row: (row.cycles is not None, -(row.cycles or 0), -(row.seen or 0), row.begin.address),
        )
    )


def _ns(masks: MaskReport, cycles: int | None) -> float | None:
    return None if cycles is None else cycles / masks.clock.fastest_hz * _NS_PER_S


def _priorities(
    masks: MaskReport, sections: Iterable[Bounded], handlers: Iterable[Bounded], costs: Costs
) -> Iterable[AtPriority]:
    by_number = {row.level: row for row in handlers}
    lines = full(costs)
    for at in masks.priorities:
        # All but BASEPRI hold every interrupt off (ARM DDI 0403E, B1.5.4).
        holding = [
            row
            for row in sections
            if row.kind != "basepri" or row.level in (0, SOME) or row.level <= at.priority
        ]
        goes_before = [
            (other.priority, by_number[number])
            for other in masks.priorities
            if other.priority <= at.priority
            for number in other.numbers
            if number in by_number
        ]
        before = tuple(row for _, row in goes_before)
        missing = tuple(row for row in (*holding, *before) if row.cycles is None)
        bounded = (row for row in holding if row.cycles is not None)
        longest = max(bounded, key=lambda section: section.cycles or 0, default=None)
        least_urgent = max((other for other, _ in goes_before), default=0)
        in_section = longest is not None and longest.kind == "basepri"
        comes_in = sum(in_section or other < least_urgent for other, _ in goes_before)
        refill = comes_in * lines.first_reads(costs, lines.fit(costs))
        parts = (*before, longest) if longest else before
        total = costs.entry_cycles + refill + sum(part.cycles or 0 for part in parts)
        yield AtPriority(
            priority=at.priority,
            number=at.number,
            exceptions=at.exceptions,
            cycles=None if missing else total,
            ns=None if missing else _ns(masks, total),
            entry=costs.entry_cycles,
            refill=refill,
            section=longest,
            handlers=before,
            missing=missing,
            seen=at.worst.cycles if at.worst else None,
        )


# The longest path of one section: its instructions, how often they are passed, what they cost.

LONGEST = "1"
"""The word for the section that has the greatest bound."""
_ENTRY = "entry and return of the handler"


@dataclass(frozen=True)
class Explained:
    """What the bound of `section` is made of, the most cycles first. The blocks' sum is the
    bound.
    """

    NAMES: ClassVar = {"cycles": "bound_cycles"}
    section: Hidden[Bounded]
    begin: Place
    cycles: int
    blocks: tuple[Block, ...]


def explain(report: BoundsReport, which: str) -> Explained:
    """The longest path of one row: of the n-th longest by its number, or by a place: its function,
    `file.c:12`, or an address. Of several at a place it is the longest. Raises NoBoundError.
    """
    bounded = sorted(report.bounded, key=lambda row: -(row.cycles or 0))
    rows = (*bounded, *report.unbounded)
    if which.isascii() and which.isdecimal():
        if not 0 < int(which) <= len(bounded):
            raise NoBoundError(f"--explain {which}: {len(bounded)} have a bound; 1 is the longest.")
        return of_row(report, bounded[int(which) - 1])
    section = next((row for row in rows if which in _names(row)), None)
    if section is None:
        near = near_miss(which, [name for row in rows for name in _names(row)])
        raise NoBoundError(
            f"--explain {which[:80]}: nothing of that place holds interrupts off; give a function, "
            f"file.c:12, an address, or the number of a row, 1 for the longest.{near}"
        )
    if section.cycles is None:
        raise NoBoundError(
            f"--explain {which}: {section.kind} of {section.function} has no bound, so it has no longest "
            "path."
        )
    return of_row(report, section)


def of_row(report: BoundsReport, section: Bounded) -> Explained:
    """That of a row with a bound."""
    total, own = section.cycles or 0, section.entry_cycles
    blocks = spent(section.path, report.subject.elf, total)
    blocks += [Block(_ENTRY, 1, own, own / total, ())] if own else []
    blocks.sort(key=lambda block: -block.cycles)
    return Explained(section, section.begin, total, tuple(blocks))


def _names(section: Bounded) -> tuple[str, ...]:
    """The words that a row goes by."""
    places = [place for place in (section.begin, section.caller) if place is not None]
    words = (word for at in places for word in (at.function, at.source, f"{at.address:#010x}"))
    return tuple(filter(None, (section.function, *words)))
