"""How often a run went round the loops that nothing in the code limits.

What a run saw is no bound: the next one may go round more often. A figure that rests on it is an
estimate, and is told so wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from analysis.bounds.rounds import Unlimited
from analysis.program.masks.measure import MaskReport
from analysis.program.parts import Hidden
from simulator.masks import MOST_MARKS, Passage, run_marks

_TRIAL = 16
"""A part of the run shows how busy the loops are: one in so many of its cycles."""
_MOST_ROWS = 2_000_000
"""A loop that would be noted more often in the whole run is counted in that part alone."""


@dataclass(frozen=True)
class CountedLoop:
    """A loop that nothing limits: in the run's first `cycles` it was entered so often, and each
    time its head was passed `passes` times at the most. Then `taken` passes are presumed.
    """

    NAMES: ClassVar = {"passes": "seen_passes", "taken": "taken_passes", "cycles": "until_cycle"}
    function: str
    place: str
    address: int
    passes: int
    entries: int
    taken: int
    cycles: int
    of_cycles: Hidden[int]
    loop: Hidden[Unlimited]

    def words(self) -> str:
        """What was presumed of it, and why, in a sentence."""
        within = "" if self.cycles == self.of_cycles else f"'s first {self.cycles:,} cycles"
        return (
            f"The loop at {self.place} in {self.function}: its head was passed at most "
            f"{self.passes:,} times in a row in the run{within}, and {self.taken:,} are taken."
        )


def counted(masks: MaskReport, loops: Sequence[Unlimited], margin: float) -> list[CountedLoop]:
    """Each of the loops that the run came to, with the greatest count times `margin`.

    It is measured by running the program again. Raises SimulatorError.
    """
    whole = masks.cycles
    trial = min(max(whole // _TRIAL, 1), whole)
    first = _passages(masks, loops, trial)
    calm = [loop for loop in loops if len(first[loop.head]) * _TRIAL <= _MOST_ROWS]
    full = _passages(masks, calm, masks.subject.until)
    counts = []
    for loop in loops:
        passes, entries = _greatest(loop, full.get(loop.head, first[loop.head]))
        if entries:
            cycles = whole if loop.head in full else trial
            names = (loop.body.name, loop.place, loop.head)
            taken = ceil(passes * margin)
            counts.append(CountedLoop(*names, passes, entries, taken, cycles, whole, loop))
    return counts


def _passages(masks: MaskReport, loops: Sequence[Unlimited], until: int | str) -> dict[int, list[Passage]]:
    """The passages of the marks of each loop, by its head: the head, and where the blocks begin
    that lead to it; those inside end, too. A run takes no more than so many marks.
    """
    rows: dict[int, list[Passage]] = {}
    batch: dict[int, set[int]] = {}

    def run() -> None:
        every = set[int]().union(*batch.values())
        passed = run_marks(masks.subject.user, every, until, masks.subject.words).rows if every else ()
        rows.update({head: [row for row in passed if row.address in own] for head, own in batch.items()})
        batch.clear()

    for loop in loops:
        before = _before(loop)
        own = {loop.head, *before, *(before[begin] for begin in before.keys() & loop.inside)}
        if len(own.union(*batch.values())) > MOST_MARKS:
            run()
        batch[loop.head] = own
    run()
    return rows


def _before(loop: Unlimited) -> dict[int, int]:
    """Where the blocks begin that lead to the head, with the last instruction of each."""
    return {
        address: block.last.address
        for address, block in loop.body.blocks.items()
        if any(target == loop.head for target, _ in block.after)
    }


def _greatest(loop: Unlimited, rows: Iterable[Passage]) -> tuple[int, int]:
    """How often the head is passed each time at the most, and how often the loop is entered.

    The head is passed on a further lap if what came right before it is the end of a block inside,
    which leads there; or its beginning, if that end is an instruction that was skipped. Else the
    loop is entered anew. Laps of one time have one stack pointer, in one task and one handler.
    """
    inside = {begin: last for begin, last in _before(loop).items() if begin in loop.inside}
    ends = set(inside.values())
    before: dict[object, Passage] = {}
    passes: dict[object, list[int]] = {}
    for row in rows:
        context = (row.exception, row.task or 0)
        earlier, before[context] = before.get(context), row
        if row.address == loop.head:
            times = passes.setdefault((*context, row.sp), [])
            from_end = earlier is not None and earlier.address in ends
            lap = earlier and (earlier.next_pc == loop.head if from_end else earlier.address in inside)
            if lap and times:
                times[-1] += 1
            else:
                times.append(1)
    counts = [count for times in passes.values() for count in times]
    return max(counts, default=0), len(counts)
