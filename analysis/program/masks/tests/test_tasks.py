"""Cycles in which nothing was to be done, added up by hand; what a task is called otherwise."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.explain.kernels.kernel import Kernel
from analysis.program.masks.tasks import idle_cycles, read
from simulator import run as simulator
from simulator.build import SimulatorError
from simulator.outputs import Change
from simulator.program import UserProgram
from tests.tables import beside, table

TASKS = {"work": 0x2000_0000, "idle": 0x2000_0100}
CHANGES = [
    Change(cycle, what, value, 0, task=TASKS.get(task))
    for cycle, what, value, task in beside(__file__)["changes"]
]


@table
def test_idle_are_sleep_and_the_idle_task(idle: tuple[str, ...], first: int, end: int, cycles: int) -> None:
    assert idle_cycles(CHANGES, [TASKS[name] for name in idle], first, end) == cycles


def test_of_the_first_64_tasks_names_are_read_to_the_last_time_they_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There are 65. The program cannot be run again, so each has the name of its variable."""
    looked = set()

    def run(*_: object, states_at: list[int], **_options: object) -> None:
        looked.update(states_at)
        raise SimulatorError("There is no program.")

    monkeypatch.setattr(simulator, "run", run)
    seen = [(cycle, cycle) for cycle in range(1, 66)] + [(100, 1), (200, 65)]
    elf, user = SimpleNamespace(variable_at=hex), UserProgram(Path("my.elf"))
    subject: Any = SimpleNamespace(elf=elf, kernel=Kernel("a kernel"), user=user)
    memory = read(subject, [Change(cycle, "primask", 0, 0, task=task) for cycle, task in seen])
    assert memory.tasks == {f"{task:#010x}": hex(task) for task in range(1, 65)}
    assert max(looked) == 100
