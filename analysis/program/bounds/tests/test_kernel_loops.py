"""Loops of a kernel that go by its tasks: what is asked for, and a run with so many tasks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analysis.explain.program import Program
from analysis.program.bounds.loops_file import largest_item
from analysis.program.bounds.measure import BoundsReport, bounds
from analysis.program.subject import Subject
from base.paths import ROOT
from simulator.program import user_program
from tests.tables import table

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
    return bounds(Subject.of(user_program(elf), "10ms"), lambda _: None, counts=counts)


@pytest.mark.long
def test_the_tick_has_a_bound_once_the_tasks_are_counted_and_no_run_of_so_many_is_longer(elf: Path) -> None:
    without, counted, more = bounded(elf), bounded(elf, tasks=TASKS), bounded(elf, tasks=2 * TASKS)
    (section,) = [row for row in without.handlers if row.function == "xPortSysTickHandler"]
    assert section.cycles is None and section.why_not == (ASKED,)
    handlers = [
        next(row for row in report.handlers if row.function == "xPortSysTickHandler")
        for report in (counted, more)
    ]
    assert [row.why_not for row in handlers] == [(), ()]
    least, most = (row.cycles or 0 for row in handlers)
    assert handlers[0].seen is not None and handlers[0].seen <= least < most
    assert not counted.violations
    (annotation,) = [
        annotation for annotation in counted.annotations if annotation.function == "xTaskIncrementTick"
    ]
    assert (annotation.source, annotation.says) == ("FreeRTOS V11.2.0", f"at most {TASKS} laps")


def test_what_a_queue_copies_is_no_larger_than_the_items_that_it_was_made_for(elf: Path) -> None:
    """The example's one queue has pointers, of 4 bytes."""
    report = bounded(elf, tasks=TASKS, ticks=2)
    result = [row for row in report.annotations if row.function == "prvCopyDataToQueue"]
    assert [row.says for row in result] == ["copies at most 4 bytes"]
    assert not any("memcpy" in word for word in report.missing)
    assert not report.violations


@table
def test_the_largest_item_is_that_of_all_calls_that_make_a_queue(
    tmp_path: Path, calls: str, largest: int | None
) -> None:
    source, elf = tmp_path / "made.c", tmp_path / "made.elf"
    source.write_text(
        "__attribute__((noipa)) void make(int count, int size) { (void)count; (void)size; }\n"
        f"void start(int given) {{ (void)given; {calls} }}\n"
    )
    options = ["-mcpu=cortex-m4", "-mthumb", "-O1", "-nostdlib", "-Wl,-Ttext=0x08000000,-estart"]
    subprocess.run(["arm-none-eabi-gcc", *options, source, "-o", elf], check=True)
    assert largest_item(Program(elf), {"make": 1}) == largest
