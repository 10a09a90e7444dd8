"""Loops of a kernel that go by its tasks: what is asked for, and a run with so many tasks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analysis.program.bounds.measure import BoundsReport, bounds
from base.paths import ROOT
from simulator.program import user_program

TASKS = 3
"""The example's writer and reader, and the idle task."""
ASKED = (
    "The loop at tasks.c:4788 in xTaskIncrementTick.part.0: its laps are as many as tasks in "
    "FreeRTOS V11.2.0; give --tasks N."
)


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    sources = ROOT / "firmware" / "probe" / "examples"
    for command in (
        ["cmake", "-S", str(sources), "-B", str(folder), "-G", "Ninja"],
        ["cmake", "--build", str(folder), "--target", "tasks"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return folder / "tasks.elf"


def bounded(elf: Path, **counts: int) -> BoundsReport:
    return bounds(user_program(elf), "10ms", lambda _: None, counts=counts)


def test_the_tick_has_a_bound_once_the_tasks_are_counted_and_no_run_of_so_many_is_longer(elf: Path) -> None:
    without, counted, more = bounded(elf), bounded(elf, tasks=TASKS), bounded(elf, tasks=2 * TASKS)
    (asked,) = [row for row in without.handlers if row.function == "xPortSysTickHandler"]
    assert asked.cycles is None and asked.why_not == (ASKED,)
    handlers = [
        next(row for row in report.handlers if row.function == "xPortSysTickHandler")
        for report in (counted, more)
    ]
    assert [row.why_not for row in handlers] == [(), ()]
    least, most = (row.cycles or 0 for row in handlers)
    assert handlers[0].seen is not None and handlers[0].seen <= least < most
    assert not counted.violations
    (told,) = [one for one in counted.annotations if one.function == "xTaskIncrementTick"]
    assert (told.source, told.says) == ("FreeRTOS V11.2.0", f"at most {TASKS} laps")
