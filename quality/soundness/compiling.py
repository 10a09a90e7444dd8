"""A source of one file, with the compiler's library alone, compiled for the virtual Nucleo."""

from __future__ import annotations

import subprocess
from pathlib import Path

LINKER_SCRIPT = Path(__file__).with_name("flash.ld")


def compiled(source: Path, folder: Path, *options: str) -> Path:
    """The ELF file, made in `folder`. Raises subprocess.CalledProcessError."""
    elf = folder / "program.elf"
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib"]
    command += ["-Wall", "-Wextra", "-Werror", *options]
    command += ["-T", str(LINKER_SCRIPT), str(source), "-lgcc", "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf
