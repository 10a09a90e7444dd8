"""Cycles in which nothing was to be done, added up by hand; what a task is called otherwise."""

from __future__ import annotations

import pytest

from analysis.program.masks.tasks import idle_cycles
from simulator.outputs import Change

WORK, IDLE = 0x2000_0000, 0x2000_0100
CHANGES = [
    Change(cycle, what, value, 0, task=task)
    for cycle, what, value, task in [
        (0, "reset", 0, None),
        (100, "primask", 1, WORK),
        (150, "primask", 0, IDLE),
        # A handler of 40 cycles while the idle task is the current one, then 300 cycles of sleep.
        (200, "exception", 15, IDLE),
        (240, "exception", 0, IDLE),
        (300, "sleep", 1, WORK),
        (600, "sleep", 0, WORK),
    ]
]


@pytest.mark.parametrize(
    ("idle", "first", "end", "cycles"),
    [
        ([IDLE], 0, 1000, (200 - 150) + (300 - 240) + 300),
        ([], 0, 1000, 300),
        ([IDLE], 250, 500, 50 + 200),
        ([WORK], 0, 1000, 50 + 300 + 400),
    ],
)
def test_idle_are_sleep_and_the_idle_task(idle: list[int], first: int, end: int, cycles: int) -> None:
    assert idle_cycles(CHANGES, idle, first, end) == cycles
