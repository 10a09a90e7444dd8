"""What binutils tell of a symbol of an ELF file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def symbol(elf: Path, name: str) -> tuple[int, int]:
    """Its address, without the bit for Thumb, and its bytes; 0 where it has no size."""
    command = ["arm-none-eabi-nm", "-S", str(elf)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ((address, size),) = re.findall(rf"^(\w+)(?: (\w+))? \w {name}$", listing, re.MULTILINE)
    return int(address, 16) & ~1, int(size or "0", 16)
