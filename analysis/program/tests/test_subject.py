"""From when on figures count, in programs with the symbols of each kernel (kernels.c).

Start-up holds interrupts off for 1,000 NOPs and more, and the program's own section has 100, and
CPSIE, which belongs to it.
"""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

from analysis.errors import MasksError
from analysis.explain.kernels.tests import made
from analysis.program.masks.measure import MaskReport, measure
from analysis.program.masks.text import as_text
from analysis.program.subject import Clock, Subject
from simulator.outputs import ClockSpan
from simulator.program import user_program

UNTIL = "1ms"
START_UP, OWN = 1000, 100 + 1
LOCKS = {
    "freertos": "",
    "zephyr": "k_spin_lock",
    "threadx": "TX_DISABLE",
    "riot": "irq_disable",
    "chibios": "chSysLock",
    "nuttx": "enter_critical_section",
}
COMMON = {"zephyr": "_isr_wrapper", "nuttx": "exception_common"}
LOCKED = ("freertos", "zephyr", "threadx", "nuttx")
"""Those whose scheduler can be locked; the program does so for 50 NOPs."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def measured(elf: Path, until: str = UNTIL, **words: str) -> MaskReport:
    return measure(Subject.of(user_program(elf), until, **words), False, lambda _: None)


@pytest.fixture(scope="module", params=made.KERNELS)
def kernel(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def report(kernel: str, folder: Path) -> MaskReport:
    return measured(made.build(folder, kernel))


def test_start_up_is_told_apart(kernel: str, report: MaskReport) -> None:
    assert report.subject.kernel is not None and report.subject.kernel.name == made.KERNELS[kernel]
    (longest,) = [worst for worst in report.start_up if worst.kind == "primask"]
    assert longest.cycles is not None and longest.cycles > START_UP
    assert longest.begin.function == "reset"
    assert longest.begin_cycle < report.start.first_cycle
    masks = [worst for worst in report.worst if worst.kind == "primask"]
    assert {worst.cycles for worst in masks} == {OWN}
    assert {worst.begin.function for worst in masks} == {"update_table"}
    opening = as_text(report).splitlines()[:2]
    assert "after start-up the longest interval is" in opening[0]
    assert opening[1].startswith("Start-up, the ") and made.KERNELS[kernel] in opening[1]


def test_masks_have_the_names_of_the_kernel_s_locks(kernel: str, report: MaskReport) -> None:
    masks = [worst for worst in report.worst if worst.kind == "primask"]
    assert {worst.lock for worst in masks} == {LOCKS[kernel]}
    words = f"raised by {LOCKS[kernel]} in update_table (" if LOCKS[kernel] else "raised by update_table ("
    assert words in as_text(report)


def test_tasks_have_their_names(report: MaskReport) -> None:
    masks = [event for event in report.worst if event.kind == "primask"]
    assert {event.task for event in masks} == {"motor", "lamp"}


def test_the_handler_behind_a_common_one_has_its_name(kernel: str, report: MaskReport) -> None:
    (handler,) = [worst for worst in report.worst if worst.kind == "handler"]
    behind = f"tim2_isr behind {COMMON[kernel]}" if kernel in COMMON else "own_isr"
    assert handler.name == f"handler of IRQ 28 ({behind})"
    assert handler.begin.function == behind.partition(" ")[0]


def test_a_locked_scheduler_is_an_interval(kernel: str, report: MaskReport) -> None:
    locked = [worst for worst in report.worst if worst.kind == "scheduler"]
    assert len(locked) == (kernel in LOCKED)
    assert all(worst.task == "lamp" and 50 <= (worst.cycles or 0) < 70 for worst in locked)


def test_a_program_without_a_kernel_counts_from_main_on(folder: Path) -> None:
    report = measured(made.build(folder, ""))
    assert report.subject.kernel is None
    (longest,) = report.start_up
    assert longest.cycles is not None and longest.cycles > START_UP
    assert "until main() began (no known kernel is in it), is left out" in as_text(report)


def test_a_name_that_is_no_utf_8_can_be_written(folder: Path, tmp_path: Path) -> None:
    elf = tmp_path / os.fsdecode(b"b\xfe.elf")
    elf.write_bytes(made.build(folder, "").read_bytes())
    subject = Subject.of(user_program(elf), UNTIL)
    assert (subject.user.elf, subject.name) == (elf, r"b\udcfe.elf")


def test_a_program_without_main_counts_from_reset_on(folder: Path) -> None:
    report = measured(made.build(folder, "", "-g", "-DENTRY=run_all"))
    assert not report.start_up
    assert report.worst[0].cycles is not None and report.worst[0].cycles > START_UP
    words = "All of the run counts (no known kernel is in it, and no function main)."
    assert words in as_text(report)


def test_a_function_or_a_time_may_be_asked_for(folder: Path) -> None:
    elf = made.build(folder, "riot")
    whole = measured(elf, start="reset")
    assert not whole.start_up and whole.worst[0].begin.function == "reset"
    late = measured(elf, start="sched_run")
    assert [worst.task for worst in late.worst] == ["lamp"]
    first_cycle = late.start.first_cycle
    assert measured(elf, start=f"cycles:{first_cycle}").worst == late.worst
    # A cycle takes 62.5 ns: the next whole time lies in the same instruction or the one after.
    timed = measured(elf, start=f"{int(first_cycle * 62.5) // 1000}us")
    assert [worst.task for worst in timed.worst] == ["lamp"]
    with pytest.raises(MasksError, match=r"no such function\. Did you mean sched_run\?"):
        measured(elf, start="sched_rum")


# Times of cycles, by clocks that change.


HSI = ClockSpan(0, Fraction(0), Fraction(16_000_000))
PLL = ClockSpan(1000, Fraction(1000, 16_000_000), Fraction(84_000_000))


def test_each_cycle_is_as_long_as_its_clock_says() -> None:
    """1,000 cycles of 62.5 ns, then 84 cycles to the microsecond."""
    clock = Clock([HSI, PLL])
    assert [*map(clock.ns, (0, 1000, 1084))] == pytest.approx([0, 62_500, 63_500])
    across, after = (clock.between_ns(cycle, 1084) for cycle in (840, 1000))
    assert [across, after] == pytest.approx([160 * 62.5 + 1000, 1000])
    assert clock.last_hz == clock.fastest_hz == 84_000_000
    # Where the clock stays a length is exact, however late.
    assert Clock([HSI]).between_ns(10**13 + 7, 10**13 + 1008) == 1001 * 62.5
