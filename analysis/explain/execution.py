"""The instructions of the worst sample with their cycles, its calls and loops, and the call stack
at an instant.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

from analysis.explain.program import Program
from base.run_folder.explanation import Frame, Total

EXCEPTION = 0
"""The address of a step that enters or leaves an exception."""
_RETURNS = re.compile(r"bx(\.\S*)? lr$|mov(\.\S*)? pc|(pop|ldm)\S* .*pc|ldr\S* pc")
"""Instructions that return: they set PC from LR or from the stack."""


@dataclass(frozen=True)
class Step:
    """An instruction that began at `cycle` and took `cycles`, its stalls included."""

    cycle: int
    cycles: int
    address: int
    function: str
    place: str
    text: str
    source: str


def steps(program: Program, trace: Iterable[dict[str, Any]], start: int, end: int) -> list[Step]:
    """The steps from cycle `start` to before cycle `end`.

    Of the instruction under way at `start` only the rest counts. The cycles between two
    instructions belong to the first. Entering or leaving an exception is a step of its own.
    """
    entries = [entry for entry in trace if entry["cycle"] < end]
    first = max((n for n, entry in enumerate(entries) if entry["cycle"] <= start), default=0)
    executed = []
    for entry, then in zip(entries[first:], [*entries[first + 1 :], {"cycle": end}], strict=True):
        cycle = max(entry["cycle"], start)
        cycles = then["cycle"] - cycle
        if "mode" in entry:
            text = f"now in {entry['mode']}"
            executed.append(Step(cycle, cycles, EXCEPTION, "(exception)", "(exception)", text, ""))
            continue
        address = int(entry["pc"], 16)
        function = program.function_at(address)
        name = function.name if function else "(no function)"
        text = program.instruction_text(address, int(entry["opcode"], 16))
        place, source = program.place(address), program.source_line(address)
        executed.append(Step(cycle, cycles, address, name, place, text, source))
    return executed


def by_function(executed: Iterable[Step]) -> list[Total]:
    """Totals by function, the most expensive first. Executions count instructions."""
    return _totals((step.function, "", step.cycles) for step in executed)


_MOST = 12
"""So many instructions and lines are told."""


def by_instruction(executed: Iterable[Step]) -> list[Total]:
    """Totals of the most expensive instructions, in that order."""
    return _totals((f"{s.place}: {s.text}", s.source, s.cycles) for s in executed)[:_MOST]


def by_line(executed: Iterable[Step]) -> list[Total]:
    """Totals of the most expensive source lines, in that order.

    Executions count instructions. A line's name is the function that it was compiled into.
    """
    return _totals((step.function, step.source, step.cycles) for step in executed if step.source)[:_MOST]


def _totals(rows: Iterable[tuple[str, str, int]]) -> list[Total]:
    taken: dict[tuple[str, str], list[int]] = {}
    for name, source, cycles in rows:
        taken.setdefault((name, source), []).append(cycles)
    totals = [
        Total(name=name, executions=len(cycles), cycles=sum(cycles), source=source)
        for (name, source), cycles in taken.items()
    ]
    return sorted(totals, key=lambda total: (-total.cycles, total.name))


def stack(program: Program, calls: Iterable[tuple[int, bool]]) -> list[Frame]:
    """The frames of a state's stack. One is likely where LR alone tells of it."""
    frames: list[Frame] = []
    is_told = True
    for address, is_next in calls:
        # A call may be the last instruction of its function: so look up the call, not what follows.
        looked_up = address if is_next else address - 1
        doubt = {} if is_next or is_told else {"likely": True}
        source = program.source_line(looked_up)
        frames.append(Frame(address=address, place=program.place(address), source=source, **doubt))
        is_told = program.tells_caller(looked_up)
    return frames


@dataclass(eq=False)
class Called:
    """A call from cycle `begin` to before cycle `end`. `own` are its own steps."""

    name: str
    begin: int
    end: int
    caller: Called | None
    in_handler: bool
    own: list[Step] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many calls are around it."""
        return 0 if self.caller is None else 1 + self.caller.depth


def calls(executed: Sequence[Step]) -> list[Called]:
    """The calls of these steps, the first to begin first; of several the outermost first.

    A step in a function that is under way goes on with it. Any other one is a call; or behind an
    instruction that returns it is of who called before the trace began, and lasts from its start;
    or behind a handler it is another task's. A function that calls itself is one call.
    """
    called: list[Called] = []
    stack: list[Called] = []
    # Of each handler under way how the trace names it, and how many calls are around it.
    handlers: list[tuple[str, int]] = []
    before: Step | None = None
    instruction: Step | None = None

    def leave(around: int, cycle: int) -> None:
        for call in stack[around:]:
            call.end = cycle
        del stack[around:]

    for step in executed:
        leaves = instruction is not None and _RETURNS.match(instruction.text)
        if step.address == EXCEPTION:
            if handlers and leaves:
                leave(handlers.pop()[1], step.cycle)
            if not step.text.endswith("Thread mode") and step.text not in dict(handlers):
                handlers.append((step.text, len(stack)))
        else:
            around = handlers[-1][1] if handlers else 0
            at = [place for place in range(around, len(stack)) if stack[place].name == step.function]
            if at:
                leave(at[-1] + 1, step.cycle)
            else:
                is_back = before is not None and before.address == EXCEPTION
                begin, root = step.cycle, stack[0] if stack else None
                if not handlers and (is_back or leaves):
                    leave(0, step.cycle)
                call = Called(step.function, begin, -1, stack[-1] if stack else None, bool(handlers))
                if root is not None and not stack and not is_back:
                    call.begin, root.caller = root.begin, call
                called.append(call)
                stack.append(call)
            stack[-1].own.append(step)
            instruction = step
        before = step
    if executed:
        leave(0, executed[-1].cycle + executed[-1].cycles)
    return sorted(called, key=lambda call: (call.begin, call.depth))


# The loops that a trace shows, and the one that took most of its time.


Stretch = tuple[int, int]
"""From a cycle to before another."""

MOST_OF_IT = 0.5
"""A loop that took at least this share of the time is what it went to."""


@dataclass(frozen=True)
class Ran:
    """A loop: the code of a function from `head` to `last`, as far back as a branch leads.

    `passes` are the executions of its most often executed instruction, `stretches` when it ran:
    with all that it calls, without handlers that interrupted it. `cycles` are those of the
    stretches.
    """

    head: int
    last: int
    passes: int
    stretches: tuple[Stretch, ...]

    @property
    def cycles(self) -> int:
        return sum(end - begin for begin, end in self.stretches)


def dominating(calls: Sequence[Called], executed: Sequence[Step], away: Sequence[Stretch]) -> Ran | None:
    """The loop that took at least MOST_OF_IT of the time; of several around each other the
    innermost. None without such a loop.

    `away` are the stretches in which handlers ran.
    """
    of_threads = [call for call in calls if not call.in_handler]
    # Of each function and first address of a loop the last: where a branch led back within a call.
    last: dict[tuple[str, int], int] = {}
    for call in of_threads:
        for before, after in pairwise(call.own):
            if after.address < before.address:
                head = call.name, after.address
                last[head] = max(last.get(head, 0), before.address)
    whole = sum(step.cycles for step in executed)
    loops = (
        _ran([call for call in of_threads if call.name == name], away, first, end)
        for (name, first), end in last.items()
    )
    long = [loop for loop in loops if loop.cycles >= MOST_OF_IT * whole > 0]
    return max(long, key=lambda loop: (loop.passes, -loop.cycles), default=None)


def _ran(calls: Iterable[Called], away: Sequence[Stretch], head: int, last: int) -> Ran:
    times: Counter[int] = Counter()
    stretches: list[Stretch] = []
    for call in calls:
        visits = groupby(call.own, key=lambda step: head <= step.address <= last)
        parts = [(inside, list(steps)) for inside, steps in visits]
        ends = [*(steps[0].cycle for _, steps in parts[1:]), call.end]
        for (inside, steps), end in zip(parts, ends, strict=True):
            if inside:
                # What an interrupt cut off is executed again, and took no time before.
                times.update(step.address for step in steps if step.cycles)
                stretches.append((steps[0].cycle, end))
    cut = tuple(piece for stretch in stretches for piece in without(stretch, away))
    return Ran(head, last, max(times.values(), default=0), cut)


def without(stretch: Stretch, away: Sequence[Stretch]) -> Iterator[Stretch]:
    """What is left of a stretch without those `away`, which are in order."""
    begin, end = stretch
    for leaves, comes in away:
        if leaves < end and comes > begin:
            if leaves > begin:
                yield begin, leaves
            begin = max(begin, comes)
    if begin < end:
        yield begin, end
