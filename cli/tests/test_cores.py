"""A program that was made for another core than its chip has is refused, whoever takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.tests.typed import refused
from firmware.build import image as firmware


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
