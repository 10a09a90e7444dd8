"""A program whose masked sections have lengths that one can count, compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "main.c"


def build(folder: Path, *options: str, source: Path = SOURCE) -> Path:
    """The ELF file, made in `folder` of main.c or of another `source`."""
    elf = folder / "program.elf"
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib"]
    command += ["-Wall", "-Wextra", "-Werror", *options]
    command += ["-T", str(SOURCE.parent / "flash.ld"), str(source), "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf


def line_of(text: str, nth: int = 0) -> int:
    """The number of the line of main.c that has `text`; the nth of several, from 0."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, start=1) if text in line][nth]
