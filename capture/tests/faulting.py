"""The firmware of faulting.c, which ends in the way that is asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from simulator.tests.bare_metal import FIXTURES

SOURCE = Path(__file__).with_name("faulting.c")


def compiled(folder: Path, ending: str, core: str = "cortex-m4", sram_bytes: int = 96 << 10) -> Path:
    """The ELF file of faulting.c for a chip with so much SRAM, made to end like this."""
    elf = folder / "faulting.elf"
    command = ["arm-none-eabi-gcc", f"-mcpu={core}", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib"]
    command += [
        f"-D{ending}",
        f"-DSTACK_TOP={0x2000_0000 + sram_bytes:#x}",
        "-T",
        str(FIXTURES / "board.ld"),
        str(SOURCE),
        "-o",
        str(elf),
    ]
    subprocess.run(command, check=True)
    return elf
