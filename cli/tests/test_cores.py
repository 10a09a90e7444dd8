"""A program that was made for another core than its chip has is refused, whoever takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.program.bounds.measure import bounds
from analysis.program.subject import Subject
from cli.tests.typed import refused
from firmware.build import image as firmware
from simulator.program import user_program


@pytest.fixture(scope="module")
def elf() -> Path:
    """A program of a Cortex-M4F; the compiler says so in it."""
    return firmware.build("tlsf").elf


@pytest.mark.parametrize("command", ["masks {elf}", "latency {elf} --irq TIM2", "bounds {elf}"])
@pytest.mark.parametrize(
    ("chip", "core"), [("stm32f072rb", "Cortex-M0 (Armv6-M)"), ("f103rb", "Cortex-M3 (Armv7-M)")]
)
def test_a_program_of_another_core_is_refused(command: str, chip: str, core: str, elf: Path) -> None:
    assert refused(*command.format(elf=elf).split(), "--chip", chip) == (
        f"{elf} was made for a Cortex-M4 or Cortex-M7 (Armv7E-M), and {chip} is a {core}: build it with "
        f"-mcpu={core.partition(' ')[0].lower()}, or run it all the same with --any-core."
    )


@pytest.mark.parametrize("more", ["--chip stm32f072rb", "--chip stm32f072rb --board virtual:nucleo-f446re"])
def test_observe_refuses_it_too(more: str, elf: Path) -> None:
    words = f"observe --elf {elf} --channels CRIT=PA8 --duration 1ms {more}"
    assert "and stm32f072rb is a Cortex-M0 (Armv6-M)" in refused(*words.split())


@pytest.mark.parametrize(
    ("board", "more_than"),
    [
        pytest.param("nucleo-l476rg", 5, marks=pytest.mark.long),
        pytest.param("nucleo-f103rb", 5, marks=pytest.mark.long),
        ("nucleo-f072rb", 1),
    ],
)
def test_bounds_of_a_board_go_by_its_own_core_and_flash(board: str, more_than: int) -> None:
    """What a run shows is within what the code can do."""
    program = user_program(firmware.build("tlsf", board=board).elf)
    report = bounds(Subject.of(program, "200ms"), lambda _: None)
    seen = [section for section in report.all if section.seen is not None and section.cycles is not None]
    assert len(seen) > more_than and not report.violations
