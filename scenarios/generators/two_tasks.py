"""Two tasks of different priority on one heap, the urgent one woken at each phase of the other's
section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import Call, Step
from scenarios.generators.fenced_victims import Rounds


@dataclass(frozen=True)
class TwoTasks(Rounds):
    """The task that is not urgent allocates behind `depth` free blocks that are all too small, and
    frees, `rounds` times. In round r the urgent one is woken (r - 1) / rounds of `span_cycles` into
    each operation.
    """

    def steps(self) -> Iterator[Step]:
        yield from self.allocate_pairs()
        yield from self.free_victims(range(self.depth), "setup")
        yield Step(Call("urgent_task", measured=False), "setup")
        yield from self.all_rounds()
