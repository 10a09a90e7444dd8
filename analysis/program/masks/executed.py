"""The instructions of an interval: the same run again, with a trace up to its end."""

from __future__ import annotations

from analysis.errors import MasksError
from analysis.explain.execution import Step, steps
from analysis.explain.program import Program
from analysis.explain.replay import TRACE_MOST
from analysis.program.masks.worst import Worst
from simulator import run as simulator
from simulator.program import UserProgram

# Each step takes a cycle or more; what is under way as the interval begins is one more.
_MORE_STEPS = 16


def steps_of(program: UserProgram, elf: Program, worst: Worst) -> list[Step]:
    """What was executed in an interval that ended. Raises MasksError if a trace cannot keep it."""
    assert worst.end_cycle is not None
    length = worst.end_cycle - worst.begin_cycle
    kept = min(length + _MORE_STEPS, TRACE_MOST)
    trace = simulator.run(program, until=worst.end_cycle, trace_last=kept).trace
    if trace[0]["cycle"] > worst.begin_cycle:
        raise MasksError(
            f"The longest {worst.kind} has more than {TRACE_MOST:,} instructions, the most that a trace "
            "keeps: leave out --explain."
        )
    return steps(elf, trace, worst.begin_cycle, worst.end_cycle)
