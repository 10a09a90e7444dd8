"""The longest interval at each place, with who raised it, who ended it, and what it held off; and
whether a program came to a stop before the run's end: then what follows was never seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analysis.program.masks.log import Exceptions, Interval
from analysis.program.masks.tasks import Memory
from analysis.program.places import Place, Places
from analysis.program.subject import Clock
from simulator.outputs import Change, Standstill, Stats

RESET = "(reset)"


@dataclass(frozen=True)
class Worst:
    """The longest of `count` intervals of a kind that began and ended at the same places.

    `level` is BASEPRI's value, or the number of the handler's exception. `stack` are the calls at
    its beginning, innermost first; of a handler first itself, then what it interrupted. `held`
    names the exceptions that were enabled then and that it held off. `cycles` do not count
    `asleep_cycles`, in which an interrupt would have woken the core. `most_ns` is the longest time
    of all: where the clock changed, another than that of the most cycles may have taken it. If it
    is still open, `end`, `end_cycle`, `cycles`, `ns` and `most_ns` are None. `lock` is the kernel's
    word for the inlined function that raised it; empty if there is none.
    """

    kind: str
    level: int | None
    name: str
    cycles: int | None
    ns: float | None
    begin_cycle: int
    end_cycle: int | None
    asleep_cycles: int
    lock: str
    begin: Place
    end: Place | None
    stack: tuple[Place, ...]
    task: str
    held: tuple[str, ...]
    count: int
    most_ns: float | None

    @property
    def caller(self) -> Place | None:
        """Who called the function that raised it; None if that is not known."""
        has_caller = self.begin in self.stack[:-1]
        return self.stack[self.stack.index(self.begin) + 1] if has_caller else None

    @property
    def function(self) -> str:
        """The function whose section it is: who calls a helper that only raises the mask."""
        ended_elsewhere = self.end is not None and self.end.function not in (self.begin.function, RESET)
        return self.user if self.kind != "handler" and ended_elsewhere else self.begin.function

    @property
    def user(self) -> str:
        """The function that calls the one that raised it, else that one."""
        caller = self.caller
        return self.begin.function if caller is None or caller.interrupted else caller.function

    @property
    def who(self) -> str:
        """`raised by f (f.c:12), called by g (g.c:3); ended by f (f.c:14)`."""
        is_handler, caller = self.kind == "handler", self.caller
        raised, ended = ("", "ended in") if is_handler else ("raised by ", "ended by")
        verb = "interrupted" if is_handler or (caller and caller.interrupted) else "called by"
        calls = f", {verb} {caller}" if caller else ""
        lock = f"{self.lock} in " if self.lock else ""
        return f"{raised}{lock}{self.begin}{calls}; {ended} {self.end}"


def name_of(kind: str, level: int | None, places: Places) -> str:
    """`basepri 0x50`, `handler of SysTick (xPortSysTickHandler)`, `primask`."""
    if level is None:
        return kind
    return f"basepri {level:#04x}" if kind == "basepri" else f"handler of {places.exception(level)}"


def worst_by_place(
    intervals: Iterable[Interval],
    changes: Sequence[Change],
    places: Places,
    memory: Memory,
    exceptions: Exceptions,
) -> tuple[Worst, ...]:
    """The longest interval of each kind at each place, the longest of all first; what holds no
    interrupt off comes last.

    A place is where it began, by whom that was called, and where it ended. What a handler
    interrupted is chance, and no part of it.
    """
    alike: dict[object, list[Interval]] = {}
    for it in sorted(intervals, key=lambda it: (-(it.cycles or 0), it.begin_cycle)):
        began, ended = changes[it.begin_row], None if it.end_row is None else changes[it.end_row]
        ends = ended and (ended.pc, ended.what == "reset")
        alike.setdefault((it.kind, it.level, began.pc, began.stack, ends, it.chained), []).append(it)
    of_place: dict[object, tuple[Worst, list[Interval]]] = {}
    for its in alike.values():
        row = _placed(its[0], changes, places, memory)
        outer = row.stack.index(row.begin) if row.begin in row.stack else 0
        calls = row.stack[outer : outer + 2] if row.kind != "handler" else ()
        where = (call.where for call in calls if not call.interrupted)
        key = (row.kind, row.level, *where, row.end and row.end.where)
        of_place.setdefault(key, (row, []))[1].extend(its)
    rows = (
        replace(
            row,
            held=tuple(map(places.exception, exceptions.held(its[0]))),
            count=len(its),
            most_ns=max((it.ns for it in its if it.ns), default=row.ns),
        )
        for row, its in of_place.values()
    )
    # Else as they were found. A locked scheduler holds tasks off, and nothing else.
    return tuple(sorted(rows, key=lambda row: row.kind == "scheduler"))


def _placed(it: Interval, changes: Sequence[Change], places: Places, memory: Memory) -> Worst:
    """Where it began, the calls there, and where it ended; after a handler, the handler that
    followed.
    """
    began, ended = changes[it.begin_row], None if it.end_row is None else changes[it.end_row]
    is_handler = it.kind == "handler"
    # For a handler its first instruction, if the vector table has it.
    entry = places.entry(it.level or 0) if is_handler else None
    begin = entry or places.place((is_handler and ended and ended.pc) or began.pc)
    stack = places.stack(began.stack, began.pc)
    end = ended and places.place(ended.pc)
    if ended and ended.what == "reset":
        end = Place(RESET, "", 0, ended.pc)
    elif it.chained:
        end = Place(begin.function, "", 0, begin.address)
    return Worst(
        kind=it.kind,
        level=it.level,
        name=name_of(it.kind, it.level, places),
        cycles=it.cycles,
        ns=it.ns,
        begin_cycle=it.begin_cycle,
        end_cycle=it.end_cycle,
        asleep_cycles=it.asleep,
        lock="" if is_handler else places.lock(began.pc),
        begin=begin,
        end=end,
        stack=(begin, *stack) if is_handler else stack,
        task=memory.tasks.get(address := f"{began.task:#010x}", address) if began.task else "",
        held=(),
        count=1,
        most_ns=it.ns,
    )


_EVERYTHING = ("primask", "faultmask")
_FAULTS = range(2, 7)
"""NMI, HardFault, MemManage, BusFault, UsageFault (ARMv7-M, B1.5.2)."""
_MAY_IDLE = (11, 14)
"""SVCall and PendSV, in which a kernel may wait for a task to run."""
_MOST_OF_IT = 0.5
_NS_PER_MS = 1e6


def stop(
    places: Places, stats: Stats, still_open: Sequence[Worst], clock: Clock, idle: bool
) -> tuple[str, bool]:
    """Why the program does nothing more at the end of a run, in a sentence on where it is, what it
    waits for, and who masks; empty if it may. And whether it only polls: one that still takes its
    interrupts may lack no more than an input from outside.

    It polls what never changes, unless the kernel's idle task does; or it stopped in what masks
    every interrupt to the run's end, or in a handler: one of faults, or if that is in a function
    which never returns, or lasts for at least half of the run. Sleep that an interrupt would have
    ended does not count.
    """
    polls = None if idle else polled(stats)
    first = next(  # to begin: of those that are open the first comes first
        (
            row
            for row in still_open
            if row.kind in _EVERYTHING or (row.kind == "handler" and row.level not in _MAY_IDLE)
        ),
        None,
    )
    stays = first is not None and (
        bool(polls)
        or (first.kind == "handler" and first.level in _FAULTS)
        or stats.cycles - first.begin_cycle - first.asleep_cycles >= _MOST_OF_IT * stats.cycles
        or (places.program.has_lines and first.begin.function in places.program.never_return)
    )
    if not polls and not stays:
        return "", False
    parts = [hangs(places, polls) if polls else f"The program stopped in {places.place(stats.pc)}"]
    if first is not None and stays:
        began = clock.ns(first.begin_cycle)
        left = clock.ns(stats.cycles) - began
        who = first.name if first.kind == "handler" else f"{first.begin} masks with {first.name}"
        parts += [
            f"{who}, from {began / _NS_PER_MS:,.2f} ms after reset on",
            f"nothing later was seen in the other {left / _NS_PER_MS:,.2f} ms",
        ]
    return "; ".join(parts) + ".", not stays


def polled(stats: Stats) -> Standstill | None:
    """What the program reads again and again at the end, in vain; None if it does not."""
    end = stats.standstill
    return end if end and end.kind == "polls" else None


def hangs(places: Places, polls: Standstill) -> str:
    """`The program hangs in clocks (polls.c:5): it waits for bits 0x00020000 of RCC_CR, …`."""
    bits = f"bits {polls.mask:#010x} of " if polls.mask else ""
    until = (
        "which nothing will ever change"
        if polls.for_ever
        else "which did not change in 100 ms after the run, either"
    )
    return f"The program hangs in {places.place(polls.pc)}: it waits for {bits}{polls.what}, {until}"
