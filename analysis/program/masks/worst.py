"""The longest interval at each place, with who raised it, who ended it, and what it held off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.errors import MasksError
from analysis.explain.execution import Step, steps
from analysis.explain.program import Program
from analysis.explain.replay import TRACE_MOST
from analysis.program.clock import Clock
from analysis.program.masks.priorities import Exceptions
from analysis.program.masks.tasks import shown
from analysis.program.parts import OrNull
from analysis.program.places import Place, Places
from analysis.program.subject import Subject
from simulator import run as simulator
from simulator.outputs import Standstill, Stats

RESET = "(reset)"


@dataclass(frozen=True)
class Worst:
    """The longest of `count` intervals of a kind that began and ended at the same places.

    `level` is BASEPRI's value, or the number of the handler's exception. `stack` are the calls at
    its beginning, innermost first; of a handler first itself, then what it interrupted. `held`
    names the exceptions that were enabled then and that it held off. `cycles` do not count
    `asleep_cycles`, in which an interrupt would have woken the core. For `stalled_cycles` of it the
    core waited for its flash, which was programmed or erased. `most_ns` is the longest time of all:
    where the clock changed, another than that of the most cycles may have taken it. If it is still
    open, `end`, `end_cycle`, `cycles`, `ns` and `most_ns` are None. `lock` is the kernel's
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
    begin: Place
    end: Place | None
    stack: tuple[Place, ...]
    task: OrNull[str]
    held: tuple[str, ...]
    count: int
    most_ns: float | None
    stalled_cycles: int = 0
    lock: OrNull[str] = ""

    @property
    def holds_interrupts(self) -> bool:
        """Whether it delays interrupts; a locked scheduler holds tasks off, and nothing else."""
        return self.kind != "scheduler"

    @property
    def caller(self) -> Place | None:
        """Who called the function that raised it; None if that is not known."""
        has_caller = self.begin in self.stack[:-1]
        return self.stack[self.stack.index(self.begin) + 1] if has_caller else None

    @property
    def function(self) -> str:
        """The function whose section it is: who calls a helper that only raises the mask."""
        ended_elsewhere = self.end is not None and self.end.function not in (self.begin.function, RESET)
        helped = self.kind != "handler" and ended_elsewhere
        return self.user if helped else self.begin.function

    @property
    def user(self) -> str:
        """The function that calls the one that raised it, else that one."""
        caller = self.caller
        return self.begin.function if caller is None or caller.interrupted else caller.function

    @property
    def who(self) -> str:
        """`raised by f (f.c:12), called by g (g.c:3); ended by f (f.c:14)`."""
        raised, ended = ("", "ended in") if self.kind == "handler" else ("raised by ", "ended by")
        verb = (
            "interrupted"
            if self.kind == "handler" or (self.caller and self.caller.interrupted)
            else "called by"
        )
        caller = f", {verb} {self.caller}" if self.caller else ""
        lock = f"{self.lock} in " if self.lock else ""
        return f"{raised}{lock}{self.begin}{caller}; {ended} {self.end}"


def worst_by_place(
    table: pl.DataFrame,
    changes: pl.DataFrame,
    places: Places,
    tasks: Mapping[int, str],
    exceptions: Exceptions,
) -> tuple[Worst, ...]:
    """The longest interval of each kind at each place, the longest of all first; what holds no
    interrupt off comes last.

    A place is where it began, by whom that was called, and where it ended. `table` has the columns
    of intervals.INTERVALS, `ns` and `stalled_cycles`.
    """
    worst_by_key: dict[tuple[object, ...], dict[str, Any]] = {}
    for row in _by_address(table, changes):
        row |= _placed(row, places)
        other = worst_by_key.setdefault(_key(row), row)
        if other is not row:
            # Of addresses that are one place in the source the longest comes first.
            other["count"] += row["count"]
            times = [ns for ns in (other["most_ns"], row["most_ns"]) if ns is not None]
            other["most_ns"] = max(times, default=None)
    intervals = [_worst(row, places, tasks, exceptions) for row in worst_by_key.values()]
    return tuple(
        sorted(intervals, key=lambda row: (not row.holds_interrupts, -(row.cycles or 0), row.begin_cycle))
    )


def name_of(kind: str, level: int | None, places: Places) -> str:
    """`basepri 0x50`, `handler of SysTick (xPortSysTickHandler)`, `primask`."""
    if kind == "basepri" and level is not None:
        return f"basepri {level:#04x}"
    return f"handler of {places.exception(level)}" if kind == "handler" and level is not None else kind


def _by_address(table: pl.DataFrame, changes: pl.DataFrame) -> list[dict[str, Any]]:
    """The longest interval of each kind, level, addresses and stack, the longest of all first; and
    how many there are.
    """
    began = changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack", "task"
    )
    ended = changes.with_row_index("end_row").select(
        pl.col("end_row").cast(pl.Int64), end_pc="pc", end_what="what"
    )
    rows = table.join(began, on="begin_row", how="left").join(ended, on="end_row", how="left")
    keys = ["kind", "level", "pc", "stack", "end_pc", "chained"]
    longest = (
        rows.with_columns(count=pl.len().over(keys), most_ns=pl.col("ns").max().over(keys))
        .sort("cycles", "begin_cycle", descending=[True, False], nulls_last=True)
        .unique(keys, keep="first", maintain_order=True)
    )
    return longest.to_dicts()


def _placed(row: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """Where it began, the calls there, and where it ended; after a handler, the handler that
    followed.
    """
    is_handler = row["kind"] == "handler"
    # For a handler its first instruction, if the vector table has it.
    entry = places.entry(row["level"]) if is_handler else None
    begin = entry or places.place((is_handler and row["end_pc"]) or row["pc"])
    stack = places.stack(row["stack"], row["pc"])
    end = None
    if row["end_what"] == "reset":
        end = Place(RESET, "", 0, row["end_pc"])
    elif row["end_pc"] is not None:
        chained = Place(begin.function, "", 0, begin.address)
        end = chained if row["chained"] else places.place(row["end_pc"])
    return {"begin": begin, "stack": (begin, *stack) if is_handler else stack, "end": end}


def _key(row: Mapping[str, Any]) -> tuple[object, ...]:
    begin, stack = row["begin"], row["stack"]
    end = None if row["end"] is None else _where(row["end"])
    if row["kind"] == "handler":
        return (row["kind"], row["level"], end)
    # What a handler interrupted is chance, and no part of the place.
    calls = stack[stack.index(begin) :] if begin in stack else stack
    return (row["kind"], row["level"], *(_where(call) for call in calls[:2] if not call.interrupted), end)


def _where(place: Place) -> tuple[object, ...]:
    return (place.function, place.file, place.line) if place.file else (place.address,)


_TAKEN = ("kind", "level", "cycles", "ns", "begin_cycle", "end_cycle", "asleep_cycles", "begin", "end")
_TAKEN_TOO = ("stack", "count", "most_ns")


def _worst(row: Mapping[str, Any], places: Places, tasks: Mapping[int, str], exceptions: Exceptions) -> Worst:
    held = exceptions.held(row["kind"], row["level"], row["begin_row"], row["end_row"])
    return Worst(
        **{name: row[name] for name in (*_TAKEN, *_TAKEN_TOO)},
        name=name_of(row["kind"], row["level"], places),
        task=shown(tasks, row["task"]) if row["task"] else "",
        held=tuple(places.exception(exception) for exception in held),
        stalled_cycles=row.get("stalled_cycles") or 0,
        lock="" if row["kind"] == "handler" else places.lock(row["pc"]),
    )


# Each step takes a cycle or more; what is under way as the interval begins is one more.
_MORE_STEPS = 16


def steps_of(subject: Subject, worst: Worst) -> list[Step]:
    """The steps of an interval that ended. Raises MasksError if a trace cannot keep them."""
    assert worst.end_cycle is not None
    length = worst.end_cycle - worst.begin_cycle
    last = min(length + _MORE_STEPS, TRACE_MOST)
    trace = simulator.run(subject.user, until=worst.end_cycle, trace_last=last).trace
    if trace[0]["cycle"] > worst.begin_cycle:
        raise MasksError(
            f"The longest {worst.kind} has more than {TRACE_MOST:,} instructions, the most that a trace "
            "keeps: leave out --explain."
        )
    return steps(subject.elf, trace, worst.begin_cycle, worst.end_cycle)


# Whether a program came to a stop before the run's end: then what follows was never seen.


_EVERYTHING = ("primask", "faultmask")
_FAULTS = range(2, 7)
"""NMI, HardFault, MemManage, BusFault, UsageFault (ARMv7-M, B1.5.2)."""
_MAY_IDLE = (11, 14)
"""SVCall and PendSV, in which a kernel may wait for a task to run."""
_MOST_OF_IT = 0.5
_NS_PER_MS = 1e6


@dataclass(frozen=True)
class Stop:
    """`sentence` says where the program is, what it waits for, and who masks. One that `only_polls`
    still takes its interrupts: an input from outside may be all that it lacks.
    """

    sentence: str
    only_polls: bool = False


def stop(
    program: Program, places: Places, stats: Stats, still_open: Sequence[Worst], clock: Clock, idle: bool
) -> Stop | None:
    """Why the program does nothing more at the end of a run; None if it may.

    It polls what never changes, unless the kernel's idle task does; or it stopped in what masks
    every interrupt to the run's end, or in a handler: one of faults, or if that is in a function
    which never returns, or lasts for at least half of the run. Sleep that an interrupt would have
    ended does not count.
    """
    polls = None if idle else polled(stats)
    holder = _holder(program, still_open, stats.cycles, bool(polls))
    if polls is None and holder is None:
        return None
    parts = [hangs(places, polls) if polls else f"The program stopped in {places.place(stats.pc)}"]
    if holder is not None:
        began, end_ns = (float(clock.ns([cycle])[0]) for cycle in (holder.begin_cycle, stats.cycles))
        who = holder.name if holder.kind == "handler" else f"{holder.begin} masks with {holder.name}"
        parts.append(f"{who}, from {began / _NS_PER_MS:,.2f} ms after reset on")
        parts.append(f"nothing later was seen in the other {(end_ns - began) / _NS_PER_MS:,.2f} ms")
    return Stop("; ".join(parts) + ".", only_polls=holder is None)


def polled(stats: Stats) -> Standstill | None:
    """What the program reads again and again at the end, in vain; None if it does not."""
    end = stats.standstill
    return end if end and end.kind == "polls" else None


def hangs(places: Places, polls: Standstill) -> str:
    """`The program hangs in clocks (polls.c:5): it waits for bits 0x00020000 of RCC_CR, …`."""
    return f"The program hangs in {places.place(polls.pc)}: {_waits(polls)}"


def _waits(polls: Standstill) -> str:
    bits = f"bits {polls.mask:#010x} of " if polls.mask else ""
    until = (
        "which nothing will ever change"
        if polls.for_ever
        else "which did not change in 100 ms after the run, either"
    )
    return f"it waits for {bits}{polls.what}, {until}"


def _holder(program: Program, still_open: Sequence[Worst], cycles: int, polls: bool) -> Worst | None:
    """The first that holds interrupts off to the end of a program that stopped."""
    held = [section for section in still_open if section.kind in _EVERYTHING or _handler(section)]
    first = min(held, key=lambda section: section.begin_cycle, default=None)
    if first is None:
        return None
    lasted = cycles - first.begin_cycle - first.asleep_cycles
    is_stop = polls or _fault(first) or lasted >= _MOST_OF_IT * cycles or _never_returns(program, first)
    return first if is_stop else None


def _handler(section: Worst) -> bool:
    return section.kind == "handler" and section.level not in _MAY_IDLE


def _fault(section: Worst) -> bool:
    return section.kind == "handler" and section.level in _FAULTS


def _never_returns(program: Program, section: Worst) -> bool:
    return program.has_lines and section.begin.function in program.never_return
