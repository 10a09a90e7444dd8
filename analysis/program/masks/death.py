"""Whether a program came to a stop before the run's end: then what followed was never seen."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.explain.program import Program
from analysis.program.masks.intervals import Clock
from analysis.program.masks.worst import Worst

_EVERYTHING = ("primask", "faultmask")
_FAULTS = range(2, 7)
"""NMI, HardFault, MemManage, BusFault, UsageFault (ARMv7-M, B1.5.2)."""
_MOST_OF_IT = 0.5
_NS_PER_MS = 1e6


def stopped(program: Program, still_open: Sequence[Worst], cycles: int, clock: Clock) -> str:
    """A sentence if the program stopped; else empty.

    It stopped in what masks every interrupt to the run's end, or in a handler of faults: if that
    is in a function which never returns, or lasts for at least half of the run. Sleep that an
    interrupt would have ended does not count.
    """
    held = [one for one in still_open if one.kind in _EVERYTHING or _fault(one)]
    first = min(held, key=lambda one: one.begin_cycle, default=None)
    if first is None:
        return ""
    lasted = cycles - first.begin_cycle - first.asleep_cycles
    if not (_fault(first) or lasted >= _MOST_OF_IT * cycles or _never_returns(program, first)):
        return ""
    function = first.begin.function
    where = f"{function}() ({first.begin.file}:{first.begin.line})" if first.begin.file else function
    began, whole = (clock.between_ns([0], [cycle])[0] / _NS_PER_MS for cycle in (first.begin_cycle, cycles))
    return (
        f"The program stopped in {where}, {began:,.2f} ms after reset, with {first.name}; nothing later was "
        f"seen in the other {whole - began:,.2f} ms."
    )


def _fault(one: Worst) -> bool:
    return one.kind == "handler" and one.level in _FAULTS


def _never_returns(program: Program, one: Worst) -> bool:
    return program.has_lines and one.begin.function in program.never_return
