"""What the changes of a run tell: what held interrupts off and when, at which priority the core
executed, when it slept, and which exceptions were used. docs/design/explaining.md says how.

The rule of priorities is that of the ARMv7-M Architecture Reference Manual, B1.5.4
(ExecutionPriority): an exception is taken if its group priority is less than that of what is
executed, which BASEPRI, PRIMASK and FAULTMASK raise.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import NamedTuple

from simulator.interrupts import FIRST_IRQ
from simulator.outputs import Change

# ARMv7-M Architecture Reference Manual, A7.7.263: WFI, narrow and wide.
_WFI = (b"\x30\xbf", b"\xaf\xf3\x03\x80")
KINDS = ("primask", "faultmask", "basepri", "handler", "scheduler")
_SWITCHES = ("primask", "faultmask", "scheduler")
THREAD = 0
_NOTHING = 256
_BYTE = 256
# Reset, NMI and HardFault (B1.5.4, table B1-4).
_FIXED = {1: -3, 2: -2, 3: -1}
_FIRST_CONFIGURABLE = 4


Spans = Sequence[tuple[int, int]]
"""Spans of cycles, in order, of which none overlap."""


def within(spans: Spans, begin: int, end: int) -> int:
    """How many cycles of the spans lie between two."""
    first = bisect_right(spans, begin, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0])
    return sum(min(until, end) - max(since, begin) for since, until in spans[first:last])


def sleep(changes: Iterable[Change], end_cycle: int, code: Callable[[int, int], bytes]) -> Spans:
    """When the core slept in WFI. `code` gives so many bytes of the program from an address on."""
    is_wfi = cache(lambda pc: any(code(pc, len(form)) == form for form in _WFI))
    turns = [change for change in changes if change.what in ("sleep", "reset")]
    return [
        (turn.cycle, following.cycle if following else end_cycle)
        for turn, following in zip_longest(turns, turns[1:])
        if turn.what == "sleep" and turn.value and is_wfi(turn.pc)
    ]


@dataclass(slots=True)
class Interval:
    """From a row of the changes to another; those of the end are None where it is still open.

    `level` is BASEPRI's value, the number of the handler's exception, or the priority that was held
    off; else None. `asleep` cycles do not count: an interrupt would have ended them. A handler is
    `chained` if the core did not return from it, but entered another.
    """

    kind: str
    level: int | None
    begin_row: int
    begin_cycle: int
    end_row: int | None = None
    end_cycle: int | None = None
    chained: bool = False
    asleep: int = 0
    ns: float | None = None

    @property
    def cycles(self) -> int | None:
        """Those awake; None where it is open."""
        return None if self.end_cycle is None else self.end_cycle - self.begin_cycle - self.asleep


def intervals(changes: Sequence[Change]) -> list[Interval]:
    """In the order in which they begin.

    Those of a level of BASEPRI are at it or at a more urgent one, if it was set then. A handler's
    last from the start of its entry to the start of its return. The changes say which exception is
    executed now: one that was active before is returned to, another is entered; whether the last is
    finished shows when something below it is returned to. A reset ends everything.
    """
    done: list[Interval] = []
    now: dict[tuple[str, int | None], Interval] = {}
    active: list[Interval] = []
    levels = sorted({change.value for change in changes if change.what == "basepri" and change.value})
    was_set: set[int | None] = {None}
    for row, (cycle, what, value, _, began, *_) in enumerate(changes):
        reset = what == "reset"
        value = 0 if reset else value
        held: dict[tuple[str, int | None], bool] = {
            (kind, None): value != 0 for kind in _SWITCHES if what in ("reset", kind)
        }
        if what in ("reset", "basepri"):
            held |= {("basepri", level): 0 < value <= level for level in levels}
        for key, holds in held.items():
            if holds and key not in now:
                now[key] = Interval(*key, row, cycle)
                was_set -= {key[1]} - {None}
            elif not holds and (ended := now.pop(key, None)):
                ended.end_row, ended.end_cycle = row, cycle
                done += [ended] if ended.level in was_set else []
        if what == "basepri":
            was_set.add(value)
        if not reset and what != "exception":
            continue
        at = cycle if began is None else began
        returned = reset or value in (THREAD, *(entered.level for entered in active))
        if active:
            active[-1].end_row, active[-1].end_cycle, active[-1].chained = row, at, not returned
        if not returned:
            active.append(Interval("handler", value, row, at))
        while returned and active and active[-1].level != value:
            done.append(active.pop())
    for going in active:
        going.end_row, going.end_cycle, going.chained = None, None, False
    done += [*active, *(interval for interval in now.values() if interval.level in was_set)]
    return sorted(done, key=lambda it: (it.begin_cycle, it.begin_row, KINDS.index(it.kind), it.level or 0))


class State(NamedTuple):
    """What is executed from `cycle` on, by the change `row`: its `priority`, 256 of a thread that
    nothing raises; the same `unmasked` by PRIMASK; the mask of its PRIGROUP; and what holds most.
    """

    row: int
    cycle: int
    priority: int
    unmasked: int
    group: int
    kind: str
    level: int | None


def executed(changes: Sequence[Change]) -> list[State]:
    """The state after each change that makes another.

    The core executes at a handler's priority from where it begins to enter it, and no more from
    where it begins to return from it. Of several changes in one cycle the last one holds.
    """
    priorities = {THREAD: _NOTHING, **_FIXED}
    rows: list[tuple[int, int, Change, int]] = []
    for row, change in enumerate(changes):
        if change.what == "priority":
            exception, priority = divmod(change.value, _BYTE)
            priorities[exception] = priority
        began = change.cycle if change.began is None else change.began
        rows.append((began, row, change, priorities.get(change.value, 0)))
    now: dict[str, int] = {}
    states: list[State] = []
    for cycle, row, change, own in sorted(rows, key=lambda it: it[0]):
        now = {} if change.what == "reset" else {**now, change.what: change.value}
        if change.what == "exception":
            now["handler"] = own
        # The bits of a priority that PRIGROUP leaves to its group (B3.2.6, AIRCR).
        group = 0xFF << (now.get("prigroup", 0) + 1) & 0xFF
        basepri, handler = now.get("basepri", 0), now.get("handler", _NOTHING)
        by = {
            "faultmask": -1 if now.get("faultmask") else _NOTHING,
            "primask": 0 if now.get("primask") else _NOTHING,
            "basepri": basepri & group if basepri else _NOTHING,
            "handler": handler & group if 0 <= handler < _BYTE else handler,
        }
        kind = min(by, key=lambda kind: by[kind])
        level = {"basepri": basepri, "handler": now.get("exception", 0)}.get(kind)
        unmasked = min(by["faultmask"], by["basepri"], by["handler"])
        state = State(row, cycle, by[kind], unmasked, group, kind, level)
        if states and states[-1].cycle == cycle:
            states.pop()
        if not states or states[-1][2:] != state[2:]:
            states.append(state)
    return states


def not_taken(states: Iterable[State], priority: int, slept: Spans) -> list[Interval]:
    """The intervals in which an interrupt of `priority` could not be taken. Sleep that the
    interrupt would have ended does not count: that which PRIMASK alone keeps from it.
    """
    held: list[Interval] = []
    now: Interval | None = None
    masked_from: int | None = None
    for state in states:
        own = priority & state.group
        if now and masked_from is not None:
            now.asleep += within(slept, masked_from, state.cycle)
        masked_from = None
        if own < state.priority:
            if now:
                now.end_row, now.end_cycle, now = state.row, state.cycle, None
            continue
        if now is None:
            now = Interval("priority", priority, state.row, state.cycle)
            held.append(now)
        if own < state.unmasked:
            masked_from = state.cycle
    return held


@dataclass
class Holding:
    """What held an interrupt off for `cycles` of an interval, in `count` parts of it."""

    kind: str
    level: int | None
    cycles: int
    count: int = 1
    name: str = ""


def holders(states: Sequence[State], begin: int, end: int) -> list[Holding]:
    """The most urgent holders from cycle `begin` to `end`, each once, in the order of their first
    parts.
    """
    first, last = (bisect_left(states, cycle, key=lambda state: state.cycle) for cycle in (begin, end))
    held: dict[tuple[str, int | None], Holding] = {}
    before = None
    for state, following in zip_longest(states[first:last], states[first + 1 : last]):
        key = (state.kind, state.level)
        holding = held.setdefault(key, Holding(*key, 0, 0))
        holding.cycles += (following.cycle if following else end) - state.cycle
        holding.count += key != before
        before = key
    return list(held.values())


_VALUES = {"priority": _BYTE, "enabled": 2, "exception": 1, "reset": 1}
"""What tells of exceptions: so many values each has."""


class Exceptions:
    """Which exceptions a program used, and their priorities, at each row of changes."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._rows = [
            (row, change.what, *divmod(change.value, _VALUES[change.what]))
            for row, change in enumerate(changes)
            if change.what in _VALUES
        ]
        self.used = {
            exception
            for _, what, exception, value in self._rows
            if exception >= _FIRST_CONFIGURABLE and (what == "exception" or (what == "enabled" and value))
        }

    def priorities(self, bits: int) -> dict[int, list[int]]:
        """The used exceptions by priority of a core that has so many bits of it, most urgent first,
        also those that no exception has.
        """
        by_priority: dict[int, set[int]] = {number << 8 - bits: set() for number in range(1 << bits)}
        now: dict[int, int] = {}
        seen: set[int] = set()
        for _, what, exception, value in self._rows:
            if what == "priority":
                now[exception] = value
            elif value or what == "exception":
                seen.add(exception)
            if exception in seen & self.used:
                by_priority.setdefault(now.get(exception, 0), set()).add(exception)
        return {priority: sorted(by_priority[priority]) for priority in sorted(by_priority)}

    def held(self, interval: Interval) -> list[int]:
        """Which exceptions an interval held off, of those enabled at its first row or in it.

        Exceptions of the core are enabled if they are used at all. What holds tasks off holds none.
        """
        if interval.kind == "scheduler":
            return []
        of_core = {exception for exception in self.used if exception < FIRST_IRQ}
        enabled, now = set(of_core), dict[int, int]()
        for row, what, exception, value in self._rows:
            if interval.end_row is not None and row >= interval.end_row:
                break
            if what == "priority":
                now[exception] = value
            elif what == "enabled" and value:
                enabled.add(exception)
            elif what == "enabled" and row <= interval.begin_row:
                enabled.discard(exception)
            elif what == "reset":
                enabled, now = set(of_core), {}
        level, is_handler = interval.level or 0, interval.kind == "handler"
        least = _FIXED.get(level, now.get(level, 0)) if is_handler else level
        return sorted(
            exception
            for exception in enabled
            if now.get(exception, 0) >= least and not (is_handler and exception == level)
        )
