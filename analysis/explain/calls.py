"""The calls that a trace shows: which function ran when, and how deep.

A call is told by a branch that keeps its return address, and its end by the step at that address.
A trace that begins within calls shows them only as they end; they then reach back to its start.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from analysis.explain.execution import Step

EXCEPTION = 0
"""The address of a step that enters or leaves an exception."""

_WIDE, _NARROW = 4, 2


@dataclass(eq=False)
class Called:
    """A call from cycle `begin` to before cycle `end`. `own` are the numbers of its own steps.

    `handler` is true of an exception's outermost function. `jumped` is true where the caller jumped
    instead of calling: both return together.
    """

    name: str
    begin: int
    end: int
    caller: Called | None
    returns_to: int | None = None
    handler: bool = False
    jumped: bool = False
    own: list[int] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many calls are around it."""
        return 0 if self.caller is None else 1 + self.caller.depth

    @property
    def in_handler(self) -> bool:
        """True of a handler and of all that it calls."""
        return self.handler or (self.caller is not None and self.caller.in_handler)


def calls(executed: Sequence[Step]) -> list[Called]:
    """The calls of these steps, the first to begin first; of several the outermost first."""
    walk = _Walk()
    for number, step in enumerate(executed):
        walk.at(number, step)
    if executed:
        walk.close(executed[-1].cycle + executed[-1].cycles)
    return sorted(walk.called, key=lambda call: (call.begin, call.depth))


class _Walk:
    def __init__(self) -> None:
        self.called: list[Called] = []
        self._now: Called | None = None
        self._entering = self._back = False
        self._last: Step | None = None
        self._interrupted: list[tuple[Called, Step | None]] = []

    def at(self, number: int, step: Step) -> None:
        """Goes on to the step of this `number`."""
        if step.address == EXCEPTION:
            self._turn(step)
            return
        if self._entering:
            self._enter(step)
        elif self._now is None:
            self._now = self._open(step, None)
        else:
            self._follow(self._now, step, self._last)
        assert self._now is not None
        self._now.own.append(number)
        self._last, self._back = step, False

    def close(self, cycle: int) -> None:
        """Ends all that is open."""
        for call in self.called:
            if call.end < 0:
                call.end = cycle

    def _open(
        self,
        step: Step,
        caller: Called | None,
        returns_to: int | None = None,
        *,
        handler: bool = False,
        jumped: bool = False,
    ) -> Called:
        call = Called(step.function, step.cycle, -1, caller, returns_to, handler, jumped)
        self.called.append(call)
        return call

    def _turn(self, step: Step) -> None:
        """Into a handler, or back: to Thread mode, or to the handler that was interrupted.

        What was executed last before it tells how the interrupted code goes on.
        """
        handler = self._handler()
        if handler is not None and self._last is not None and _leaves(self._last):
            self._end(handler, step.cycle)
            self._now = handler.caller
            self._last = next((last for call, last in self._interrupted if call is handler), None)
        self._back = True
        self._entering = not step.text.endswith("Thread mode")

    def _enter(self, step: Step) -> None:
        self._entering = False
        # Back in a handler that was interrupted: it goes on, where it is on its way.
        if self._now is not None and self._now.in_handler and self._now.name == step.function:
            return
        self._now = self._open(step, self._now, handler=True)
        self._interrupted.append((self._now, self._last))

    def _handler(self) -> Called | None:
        call = self._now
        while call is not None and not call.handler:
            call = call.caller
        return call

    def _end(self, call: Called, cycle: int) -> None:
        """Ends `call`, and what it called and is still open."""
        open_call = self._now
        while open_call is not None:
            open_call.end = cycle
            if open_call is call:
                return
            open_call = open_call.caller

    def _follow(self, now: Called, step: Step, before: Step | None) -> None:
        if before is not None:
            back = self._returned(now, step, before)
            if back is not None:
                self._now = back
                return
            if (behind := _call_returns_to(before)) is not None and step.address != behind:
                self._now = self._open(step, now, returns_to=behind)
                return
        if step.function != now.name:
            self._elsewhere(now, step, before)

    def _returned(self, now: Called, step: Step, before: Step) -> Called | None:
        """The call that `step` goes on with, where the one before it ended others; else None."""
        if step.address == before.address + _width(before, step):
            return None
        call: Called | None = now
        while call is not None and not call.handler:
            if call.returns_to == step.address and not call.jumped:
                self._end(call, step.cycle)
                return call.caller
            call = call.caller
        return None

    def _elsewhere(self, now: Called, step: Step, before: Step | None) -> None:
        """Another function without a call: another task, a return to one that was under way as the
        trace began, or a jump in place of a last call.
        """
        outermost = now
        while outermost.caller is not None:
            outermost = outermost.caller
        leaves = before is not None and _leaves(before)
        if leaves and not now.in_handler and outermost.returns_to is None:
            self._end(outermost, step.cycle)
            self._now = outermost.caller = Called(step.function, outermost.begin, -1, None)
            self.called.append(self._now)
        elif self._back:
            self._end(outermost, step.cycle)
            self._now = self._open(step, None)
        else:
            self._now = self._open(step, now, returns_to=now.returns_to, jumped=True)


def _leaves(step: Step) -> bool:
    """True of an instruction that returns: one that sets PC from LR or from the stack."""
    name, _, operands = step.text.partition(" ")
    plain = name.partition(".")[0]
    if (plain == "bx" and operands == "lr") or (plain == "mov" and operands.startswith("pc")):
        return True
    return (plain.startswith(("pop", "ldm")) and "pc" in operands) or (
        plain.startswith("ldr") and operands.startswith("pc")
    )


def _call_returns_to(step: Step) -> int | None:
    """The address behind a call; None of any other instruction."""
    name = step.text.partition(" ")[0].partition(".")[0]
    if name == "bl":
        return step.address + _WIDE
    return step.address + _NARROW if name == "blx" else None


def _width(before: Step, step: Step) -> int:
    """The bytes of `before`, if `step` follows it in the code; else of a narrow instruction."""
    return _WIDE if step.address == before.address + _WIDE else _NARROW


def own_cycles(call: Called, executed: Sequence[Step]) -> int:
    """The cycles of its own instructions, without what it called."""
    return sum(executed[number].cycles for number in call.own)


def dearest_source(call: Called, executed: Sequence[Step]) -> str:
    """The source line that took most of its own cycles; empty if none is known."""
    cycles: dict[str, int] = defaultdict(int)
    for number in call.own:
        if executed[number].source:
            cycles[executed[number].source] += executed[number].cycles
    return max(cycles, key=lambda source: cycles[source], default="")


# The loops that a trace shows, and the one that took most of its time.


Stretch = tuple[int, int]
"""From a cycle to before another."""

MOST_OF_IT = 0.5
"""A loop that took at least this share of the time is what it went to."""


@dataclass(frozen=True)
class Ran:
    """A loop: the code of `function` from `head` to `last`, as far back as a branch leads.

    `passes` are the executions of its most often executed instruction, `stretches` when it ran:
    with all that it calls, without handlers that interrupted it. `cycles` are those of the
    stretches.
    """

    function: str
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
    whole = sum(step.cycles for step in executed)
    loops = [_ran(calls, executed, away, *place) for place in _heads(calls, executed)]
    long = [loop for loop in loops if loop.cycles >= MOST_OF_IT * whole > 0]
    return max(long, key=lambda loop: (loop.passes, -loop.cycles), default=None)


def _heads(calls: Sequence[Called], executed: Sequence[Step]) -> Iterator[tuple[str, int, int]]:
    """Function, first and last address of each loop: where a branch led back within one call."""
    last: dict[tuple[str, int], int] = {}
    for call in calls:
        if call.in_handler:
            continue
        for before, after in pairwise(call.own):
            source, target = executed[before].address, executed[after].address
            if target < source:
                key = call.name, target
                last[key] = max(last.get(key, 0), source)
    return ((name, head, end) for (name, head), end in last.items())


def _ran(
    calls: Sequence[Called],
    executed: Sequence[Step],
    away: Sequence[Stretch],
    name: str,
    head: int,
    last: int,
) -> Ran:
    times: Counter[int] = Counter()
    stretches: list[Stretch] = []
    for call in calls:
        if call.name != name or call.in_handler:
            continue
        begin: int | None = None
        for number in call.own:
            step = executed[number]
            inside = head <= step.address <= last
            # What an interrupt cut off is executed again, and took no time before.
            times[step.address] += inside and step.cycles > 0
            if inside and begin is None:
                begin = step.cycle
            elif not inside and begin is not None:
                stretches.append((begin, step.cycle))
                begin = None
        if begin is not None:
            stretches.append((begin, call.end))
    cut = tuple(piece for stretch in stretches for piece in without(stretch, away))
    return Ran(name, head, last, max(times.values(), default=0), cut)


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
