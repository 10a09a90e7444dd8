"""Bounds of programs whose control flow or memories are rare in C, beside what they took."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.judge.limits import Allowance, parse
from analysis.judge.programs import judge
from analysis.program.bounds import text
from analysis.program.bounds.measure import BoundsReport, bounds
from analysis.program.bounds.text import as_text
from analysis.program.subject import Subject
from simulator.program import user_program
from tests.tables import table

LONG = pytest.mark.long
PROGRAMS = Path(__file__).with_name("programs")
_COMPILER = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]
OFF, CODE_CACHE, BOTH_CACHES = 0x0, 0x205, 0x705
"""FLASH_ACR: no wait state and no help; five wait states, with one cache and with all of it."""
REGISTER = {"stm32f401re": 0x4002_3C00, "stm32f103rb": 0x4002_2000, "stm32l476rg": 0x4002_2000}
"""Where it is (quality/soundness/chips.toml)."""


def bounded(
    folder: Path, name: str, *options: str, acr: int = OFF, chip: str = "stm32f401re"
) -> BoundsReport:
    elf = folder / f"{name}.elf"
    sources = [PROGRAMS / file for file in ("start.s", f"{name}.c", "syscalls.c")]
    words: list[str | Path] = [
        "-O2",
        "-g",
        "-nostartfiles",
        f"-Wl,--defsym=ACR={REGISTER[chip]:#x},--defsym=ACRVAL={acr:#x}",
        "-T",
        PROGRAMS / "link.ld",
    ]
    subprocess.run([*_COMPILER, *words, *options, *sources, "-o", elf, "-lm"], check=True)
    program = user_program(elf, chip=chip, any_core=True, semihosting=True)
    return bounds(Subject.of(program, "200ms"), lambda _: None)


@pytest.mark.parametrize("acr", [pytest.param(OFF, marks=LONG), BOTH_CACHES])
@table
def test_no_section_takes_longer_than_its_bound(
    tmp_path: Path, name: str, functions: tuple[str, ...], acr: int
) -> None:
    report = bounded(tmp_path, name, acr=acr)
    assert sorted(section.function for section in report.sections) == [*functions]
    assert_close(report)


def assert_close(report: BoundsReport) -> None:
    """Every section was seen, took no longer than its bound, and not much less."""
    for section in report.sections:
        assert section.cycles is not None and section.seen is not None
        assert section.seen <= section.cycles < 3 * section.seen
    assert not report.violations


@pytest.mark.parametrize(("chip", "acr"), [("stm32f103rb", 2), ("stm32f401re", 2), ("stm32l476rg", 4)])
def test_words_of_the_flash_wait_for_each_of_its_lines(tmp_path: Path, chip: str, acr: int) -> None:
    """A line has 16 bytes on an STM32F4 and 8 on an STM32L4; an STM32F1 keeps none for data."""
    report = bounded(tmp_path, "constants", acr=acr, chip=chip)
    assert len(report.sections) == 4
    assert_close(report)


def test_data_may_wait_for_the_line_beside_that_of_the_word_before_it(tmp_path: Path) -> None:
    assert_close(bounded(tmp_path, "instructions", acr=CODE_CACHE))


@table
def test_what_does_not_come_back_to_its_caller_has_no_bound(
    tmp_path: Path, name: str, sentences: tuple[str, ...]
) -> None:
    report = bounded(tmp_path, name)
    assert tuple(report.missing) == sentences
    assert not report.endless


def test_a_priority_that_waited_longer_than_its_bound_is_a_violation(tmp_path: Path) -> None:
    report = bounded(tmp_path, "svc_in_basepri")
    (last,) = [priority for priority in report.priorities if priority.priority == 0xF0]
    assert last.cycles is not None and last.seen is not None and last.seen <= last.cycles
    wrong = replace(report, priorities=(replace(last, cycles=last.seen - 1),))
    assert [violation.seen for violation in wrong.violations] == [last.seen]
    assert "priority 15 (0xf0)" in as_text(wrong).partition("By priority")[0]
    assert text.subject(wrong).wrong


def test_a_priority_has_a_bound_whether_or_not_an_interrupt_has_it(tmp_path: Path) -> None:
    report = bounded(tmp_path, "svc_in_basepri")
    assert [(row.number, row.priority) for row in report.priorities] == [(n, n << 4) for n in range(16)]
    unused = next(row for row in report.priorities if row.number == 14)
    assert not unused.exceptions and unused.cycles is not None
    assert unused.cycles >= max(row.cycles or 0 for row in report.sections)
    measured = text.subject(report)
    for name, most, status in (
        ("priority 14", unused.cycles - 1, 1),
        ("priority 0xe0", unused.cycles, 0),
    ):
        limits = parse({name: str(most)}, text.BOUND_KINDS, measured.priority_bits)
        assert judge(measured, limits, None, Allowance()).exit_status == status


@pytest.mark.parametrize("of", ["memset", "memcpy", "memmove"])
@pytest.mark.parametrize("length", [pytest.param(1, marks=LONG), pytest.param(13, marks=LONG), 200])
def test_the_c_librarys_loops_go_by_the_length_that_the_code_shows(
    tmp_path: Path, of: str, length: int
) -> None:
    report = bounded(tmp_path, "library", f"-DOF={of}", f"-DLENGTH={length}u", "-fno-builtin")
    (section,) = report.sections
    assert section.cycles is not None, section.why_not
    assert section.seen is not None and section.seen <= section.cycles < 40 * length + 300
