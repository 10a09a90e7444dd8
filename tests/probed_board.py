"""A virtual Nucleo with a debug probe, and what the toolchain says of the firmware on it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from base.paths import ROOT
from firmware.build import boards
from firmware.build import image as firmware
from simulator.serve import Served

TARGET = boards.default().pyocd_target

TOOL_TIMEOUT_S = 480
FLASH_START = 0x0800_0000


class ProbedBoard:
    """A simulator with the firmware `elf`, held in reset until a debugger takes over.

    A context manager.
    """

    def __init__(self, elf: Path) -> None:
        self.elf = elf
        self._served = Served(elf, uart="tcp", probe=True)

    def __enter__(self) -> Self:
        self._served.__enter__()
        self.probe = self._served.probe
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._served.__exit__(kind, error, trace)

    def is_alive(self) -> bool:
        """Whether the simulator still runs."""
        return self._served.status() is None

    def pyocd(self, subcommand: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs pyOCD on this board's probe."""
        return subprocess.run(
            pyocd_command(self.probe, subcommand, *arguments),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=TOOL_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def commander(self, *commands: str) -> str:
        """What `pyocd commander` prints for these commands in one session."""
        done = self.pyocd("commander", *(word for command in commands for word in ("-c", command)))
        return done.stdout + done.stderr


def pyocd_command(probe: str, subcommand: str, *arguments: str) -> list[str]:
    """The command line. pyOCD itself finds pyocd_user.py in the repository's root."""
    chosen = ("--no-wait", "--uid", f"remote:{probe}", "--target", TARGET)
    return [sys.executable, "-m", "pyocd", subcommand, *chosen, *arguments]


def elf_of(allocator: str) -> Path:
    """The ELF file of the firmware with this allocator."""
    return firmware.build(allocator).elf


def loaded(elf: Path) -> dict[int, bytes]:
    """What the ELF file puts into the flash, by address, according to readelf."""
    listing = subprocess.run(
        ["arm-none-eabi-readelf", "-lW", str(elf)], capture_output=True, text=True, check=True
    )
    rows = re.findall(r"LOAD\s+0x(\w+) 0x\w+ 0x(\w+) 0x(\w+)", listing.stdout)
    content = elf.read_bytes()
    segments = {}
    for offset, address, size in ([int(word, 16) for word in row] for row in rows):
        if size:
            segments[address] = content[offset : offset + size]
    return segments


def instructions(elf: Path, function: str) -> list[int]:
    """The addresses of a function's instructions, according to objdump."""
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", f"--disassemble={function}", str(elf)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(address, 16) for address in re.findall(r"^ ([0-9a-f]{7,8}):\t", listing.stdout, re.MULTILINE)]
