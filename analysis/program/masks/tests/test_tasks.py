"""Cycles in which nothing was to be done, added up by hand; what a task is called otherwise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest

from analysis.explain.kernels.kernel import find
from analysis.explain.kernels.tests import made
from analysis.explain.program import Program
from analysis.program.masks.measure import measure
from analysis.program.masks.tasks import idle_cycles, shown
from analysis.program.subject import Subject
from simulator.program import user_program

WORK, IDLE = 0x2000_0000, 0x2000_0100
CHANGES = pl.DataFrame(
    [
        (0, "reset", 0, None),
        (100, "primask", 1, WORK),
        (150, "primask", 0, IDLE),
        # A handler of 40 cycles while the idle task is the current one, then 300 cycles of sleep.
        (200, "exception", 15, IDLE),
        (240, "exception", 0, IDLE),
        (300, "sleep", 1, WORK),
        (600, "sleep", 0, WORK),
    ],
    schema={"cycle": pl.Int64, "what": pl.String, "value": pl.Int64, "task": pl.Int64},
    orient="row",
)


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


def test_a_task_without_a_name_is_called_by_its_variable_or_its_number(tmp_path: Path) -> None:
    """RIOT's names are words that are 0 where nobody asked for names."""
    source = made.FOLDER / "kernels.c"
    bare = tmp_path / "kernels.c"
    bare.write_text(source.read_text().replace('"motor"', "0").replace('"lamp"', "0"))
    elf = made.build(tmp_path, "riot", "-g", source=bare)
    report = measure(Subject.of(user_program(elf), "1ms"), False, lambda _: None)
    assert {worst.task for worst in report.worst if worst.kind == "primask"} == {"motor", "lamp"}
    stripped = tmp_path / "stripped.elf"
    words = ["-N", "motor", "-N", "lamp", str(elf), str(stripped)]
    subprocess.run(["arm-none-eabi-objcopy", *words], check=True)
    assert find(Program(stripped)) is not None
    report = measure(Subject.of(user_program(stripped), "1ms"), False, lambda _: None)
    assert {worst.task for worst in report.worst if worst.kind == "primask"} == {"task 1", "task 2"}
    assert shown({}, 0x2000_0010) == "0x20000010"
