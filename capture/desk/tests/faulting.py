"""The firmware of faulting.c, which ends in the way that is asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from simulator.tests.bare_metal import FIXTURES

SOURCE = Path(__file__).with_name("faulting.c")


def compiled(folder: Path, ending: str) -> Path:
    """The ELF file of faulting.c, made to end like this."""
    elf = folder / "faulting.elf"
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib"]
    command += [f"-D{ending}", "-T", str(FIXTURES / "board.ld"), str(SOURCE), "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf
