"""The small firmware of `fixtures`, compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"
STIMULUS_PERIOD = 840
"""Core cycles between two edges of STIM; an interrupt answers each with a pulse on CRIT."""


def build(folder: Path, *defines: str) -> Path:
    """The ELF file, made in `folder`. It sends the text in its operation image by UART.

    With TOUCH_UNMODELLED its third interrupt writes TIM2_SMCR, which is not modelled.
    """
    return build_source(folder, "board.c", *defines)


def build_source(folder: Path, source: str, *defines: str) -> Path:
    """The ELF file of a source in `fixtures`, with debug information, made in `folder`."""
    elf = folder / Path(source).with_suffix(".elf")
    command = ["arm-none-eabi-gcc", "-g", "-mcpu=cortex-m4", "-mthumb", "-O1", "-ffreestanding", "-nostdlib"]
    command += [f"-D{name}" for name in defines]
    command += ["-T", str(FIXTURES / "board.ld"), str(FIXTURES / source), "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf
