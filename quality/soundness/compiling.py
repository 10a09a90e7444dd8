"""The chips that random programs run on (chips.toml)."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Chip:
    """A row of the file, which says what each field is, and the compiler's options of its core."""

    name: str
    core: str
    sram_kib: int
    acr: int
    cfgr: int
    enable: int
    edges: int
    divider: int
    both: bool
    settings: Sequence[int]
    of_core: Sequence[str]

    @property
    def options(self) -> tuple[str, ...]:
        """Of the compiler and the linker."""
        return (*self.of_core, f"-Wl,--defsym=sram_bytes={self.sram_kib * 1024}")

    @property
    def mainline(self) -> bool:
        """Whether the core has BASEPRI, the bit bands and 32-bit instructions."""
        return not self.core.startswith("cortex-m0")

    @property
    def floats(self) -> bool:
        return self.core == "cortex-m4"

    def clocks(self, divider: int) -> int:
        """RCC_CFGR with a divider of each PCLK: 0 for 1, 4 to 7 for 2 to 16."""
        both = divider << 3 if self.both else 0
        return (divider | both) << self.divider


def chips() -> tuple[Chip, ...]:
    """In the order of the file."""
    tables = tomllib.loads(Path(__file__).with_name("chips.toml").read_text(encoding="utf-8"))
    return tuple(Chip(**row, of_core=tables["options"][row["core"]]) for row in tables["chips"])


LINKER_SCRIPT = Path(__file__).with_name("flash.ld")


def compiled(source: Path, folder: Path, *options: str) -> Path:
    """The ELF file, made in `folder`. Raises subprocess.CalledProcessError."""
    elf = folder / "program.elf"
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib"]
    command += ["-Wall", "-Wextra", "-Werror", *options]
    command += ["-T", str(LINKER_SCRIPT), str(source), "-lgcc", "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf
