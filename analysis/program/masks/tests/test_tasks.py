"""Cycles in which nothing was to be done, added up by hand; what a task is called otherwise."""

from __future__ import annotations

from analysis.program.masks.tasks import idle_cycles
from simulator.outputs import Change
from tests.tables import beside, table

TASKS = {"work": 0x2000_0000, "idle": 0x2000_0100}
CHANGES = [
    Change(cycle, what, value, 0, task=TASKS.get(task))
    for cycle, what, value, task in beside(__file__)["changes"]
]


@table
def test_idle_are_sleep_and_the_idle_task(idle: tuple[str, ...], first: int, end: int, cycles: int) -> None:
    assert idle_cycles(CHANGES, [TASKS[name] for name in idle], first, end) == cycles
