"""Whether a program came to a stop before the run's end: then what follows was never seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.explain.program import Program
from analysis.program.clock import Clock
from analysis.program.masks.worst import Worst
from analysis.program.places import Places
from simulator.outputs import Standstill, Stats

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
