"""What is found in a run that is written by hand (made.py), and what is said beside the figures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.explain.kernels.kernel import Kernel
from analysis.program.masks import measure
from analysis.program.masks.tasks import read
from analysis.program.masks.tests import made
from analysis.program.masks.tests.made import ROWS, TASK, WHOLE, Program, place
from analysis.program.masks.text import as_text, folded, headline, opening, side_by_side
from analysis.program.masks.text import subject as subject_of
from analysis.program.parts import as_json
from analysis.program.subject import Beginning
from base.tests.few import summary
from quality.soundness.compiling import compiled
from simulator import run as simulator
from simulator.build import SimulatorError
from simulator.outputs import Change
from simulator.program import UserProgram
from tests import lab
from tests.tables import table


def statistics(*values: float) -> dict[str, Any]:
    return {name: value for name, value in summary(*values).items() if name != "open"}


def test_each_place_has_its_longest_interval() -> None:
    """Kind, cycles, ns, first and last cycle, count, where it began and ended, what it held off."""
    report = made.report()
    both, tick = ("SysTick", "IRQ 29 (on_tim3)"), ("SysTick",)
    rows = [
        (
            *(row.name, row.cycles, row.ns, row.begin_cycle, row.end_cycle, row.count),
            *(row.begin.line, row.end and row.end.line, row.held),
        )
        for row in (*report.worst, *report.open)
    ]
    assert rows == [
        ("primask", 100, 6250.0, 100, 200, 2, 10, 12, both),
        ("basepri 0x50", 80, 5000.0, 400, 480, 1, 14, 16, tick),
        ("handler of IRQ 29 (on_tim3)", 50, 3125.0, 500, 550, 1, 40, 45, tick),
        # Without a vector the handler begins where it was seen.
        ("handler of SysTick", 32, 1000.0, 838, 870, 1, 33, 33, ()),
        # Asleep for 100 of 120 cycles of 31.25 ns.
        ("primask", 20, 625.0, 700, 820, 1, 50, 52, both),
        ("primask", None, None, 950, None, 1, 10, None, both),
    ]
    assert [row.asleep_cycles for row in report.worst] == [0, 0, 0, 0, 100]
    assert {row.task for row in report.worst} == {f"{TASK:#010x}"}
    stacks = [[frame.line for frame in row.stack] for row in report.worst]
    assert stacks == [[10, 30], [14, 30], [40, 33], [33, 33], [50]]


def test_kinds_and_levels_are_counted() -> None:
    report = made.report()
    primask = report.intervals["primask"]
    assert (primask.count, primask.open, primask.total_cycles) == (3, 1, 150)
    assert primask.cycles == statistics(100, 30, 20)
    assert primask.ns == statistics(6250.0, 1875.0, 625.0)
    assert primask.distribution == ((20, 1), (30, 1), (100, 1)) and not primask.by_level
    levels = [(row.level, row.count, row.total_cycles) for row in report.intervals["handler"].by_level]
    assert levels == [(15, 1, 32), (45, 1, 50)]
    assert not report.intervals["faultmask"].count


@pytest.mark.parametrize(("start", "counted"), [(0, 1000), (600, 400)])
def test_a_priority_waits_for_all_that_holds_it_off(start: int, counted: int) -> None:
    """A share is that of the cycles counted, wherever it stands."""
    report = made.report(start=Beginning(settings="", where="", time=f"cycles:{start}" if start else ""))
    rows = {
        row.priority: (row.count, row.open, round(row.share * counted), row.worst and row.worst.cycles)
        for row in report.used_priorities
    }
    if start:
        assert rows == {0x40: (1, 1, 20, 20), 0xF0: (2, 1, 52, 32)}
    else:
        assert rows == {0x40: (4, 1, 200, 100), 0xF0: (5, 1, 312, 110)}
        longest = report.used_priorities[1].worst
        assert longest is not None and longest.held_by == "primask 30 + basepri 0x50 80"
        assert (longest.begin, longest.end) == (place(0x0800_0300), place(0x0800_0330))
    for row in report.used_priorities:
        assert f"{row.share:.1%}" in as_text(report)
    # Nothing but PRIMASK holds the priorities above 0x40 off: 20, 30 and 100 cycles.
    unused = {row.priority: row for row in report.priorities if not row.exceptions}
    assert len(unused) == 14
    if not start:
        assert (unused[0x30].count, unused[0x30].total_cycles) == (3, 150)


def test_call_stacks_are_folded_from_the_outermost_call_on() -> None:
    """The 130 cycles of lock() are those of two intervals; what is still open counts nowhere."""
    assert folded(made.report()) == (
        "basepri 0x50;main;lock 80\n"
        "handler of IRQ 29 (on_tim3);main;on_tim3 50\n"
        "handler of SysTick;main 32\n"
        "primask;main;lock 130\n"
        "primask;nap 20\n"
    )
    odd = Program(*(replace(function, name=f"{function.name};") for function in WHOLE.functions))
    assert "primask;main:;lock: 130\n" in folded(made.report(program=odd))


def test_builds_stand_side_by_side() -> None:
    build = subject_of(made.report())
    (row, *_) = side_by_side([build, replace(build, rows=())])
    assert (row["function"], row["kind"], row["cycles"]) == ("lock", "primask", [100, None])


def test_the_reference_names_each_field() -> None:
    section = measure.__doc__ or ""
    document = as_json(made.report())
    rows = (document, document["worst"][0], document["priorities"][0], document["intervals"]["basepri"])
    assert {field for row in rows for field in row if field not in section} == set()


@table
def test_a_program_that_stopped_says_so_first(
    monkeypatch: pytest.MonkeyPatch, said: str, never_return: tuple[str, ...], last: tuple[Any, ...]
) -> None:
    monkeypatch.setattr(WHOLE, "never_return", set(never_return))
    report = made.report(made.mask_run((*ROWS[: 4 if last[0] < 600 else -1], made.row(*last))))
    assert report.complete == (not said)
    sentences = [*opening(report)]
    assert said in sentences[0] and sentences.count(headline(report)) == 1


# Rows that are judged.


SLOW_NS, FAST_NS = 62.5, 31.25
"""A cycle up to cycle 600, and after it."""
NEVER_ENDS = (610, "primask", 1, 0x0800_0300, None, 0)


def test_each_function_has_its_longest() -> None:
    """lock() masks for 100 and 30 cycles, and raises BASEPRI for 80; nap() is awake in 20 of 120.
    The mask that stays, for 50 cycles, is not the longest of lock().
    """
    subject = subject_of(made.report())
    assert [(row.function, row.kind, row.cycles, row.ns, row.open) for row in subject.rows] == [
        ("lock", "primask", 100, 100 * SLOW_NS, False),
        ("lock", "basepri 0x50", 80, 80 * SLOW_NS, False),
        ("on_tim3", "handler", 50, 50 * SLOW_NS, False),
        ("main", "handler", 32, 32 * FAST_NS, False),
        ("nap", "primask", 20, 20 * FAST_NS, False),
    ]
    assert subject.settings == {"until": "62us", "options": "--chip=stm32f411xe", "from": "reset"}


def test_what_never_ends_lasts_to_the_end_of_the_run() -> None:
    rows = (*(row for row in made.ROWS if row[0] < 600), NEVER_ENDS)
    subject = subject_of(made.report(made.mask_run(rows)))
    first = subject.rows[0]
    assert (first.function, first.kind, first.cycles, first.open) == ("lock", "primask", 390, True)
    assert first.ns == 390 * FAST_NS
    assert max(row.cycles for row in subject.together if row.open) == 390


# What a task is called.


def test_of_the_first_64_tasks_names_are_read_where_the_last_is_first_seen(
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
    assert looked == {64}


# A program that hangs, one that waits in thousands of parts, and one with its vectors in RAM.


FOLDER = Path(__file__).with_name("programs")


def masks(elf: Path, *words: str) -> dict[str, Any]:
    done = lab.run("masks", elf, *words, "--json")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_program_that_polls_for_ever_is_told_with_where_and_who(tmp_path: Path) -> None:
    """RCC_CR's bit 17 says that the crystal is ready (RM0368, 6.3.1), and there is none."""
    elf = compiled(FOLDER / "polls.c", tmp_path)
    done = lab.run("masks", elf, "--hse", "none", "--until", "5ms")
    first = done.stdout.splitlines()[0]
    assert done.returncode == 1
    lines = (FOLDER / "polls.c").read_text("utf-8").splitlines()
    waits, masked = (
        next(n for n, line in enumerate(lines, 1) if word in line) for word in ("while", "cpsid")
    )
    hangs = f"The program hangs in clocks (polls.c:{waits}): it waits for bits 0x00020000 of RCC_CR"
    assert first.startswith(hangs)
    assert f"main (polls.c:{masked}) masks with primask" in first
