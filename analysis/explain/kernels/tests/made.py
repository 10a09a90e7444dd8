"""Programs of kernels.c: the symbols of a kernel, and sections whose lengths one can count."""

from __future__ import annotations

import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent
KERNELS = {
    "freertos": "FreeRTOS",
    "zephyr": "Zephyr",
    "threadx": "ThreadX",
    "riot": "RIOT",
    "chibios": "ChibiOS",
    "nuttx": "NuttX",
}
"""The name of each file, and that of its kernel."""
COMPILER = "arm-none-eabi-gcc"


def build(folder: Path, kernel: str, *options: str, source: Path = FOLDER / "kernels.c") -> Path:
    """The ELF file of a kernel's program, made in `folder`; of an empty name one without one."""
    elf = folder / f"{kernel or 'plain'}.elf"
    command = [COMPILER, "-mcpu=cortex-m4", "-mthumb", "-O1", "-ffreestanding", "-nostdlib", "-Wall"]
    command += ["-Wextra", "-Werror", f"-D{kernel.upper() or 'PLAIN'}=1", *(options or ("-g",))]
    command += ["-T", str(FOLDER / "kernels.ld"), str(source), "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf
