"""The loops that a trace shows, and the one that took most of its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.explain.calls import Called
from analysis.explain.execution import Step

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
