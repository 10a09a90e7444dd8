"""Stock pyOCD with its own targets programs a virtual chip of each line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from base.paths import ROOT
from simulator.serve import Served
from tests.probed_board import FLASH_START, TOOL_TIMEOUT_S, loaded

FIXTURES = ROOT / "simulator/tests/fixtures"
# pyOCD's own target is the STM32F103RC, whose pages have 2 KiB: only half of each would be erased.
MEDIUM_DENSITY = """
from pyocd.core.memory_map import FlashRegion, MemoryMap, RamRegion
from pyocd.target import TARGET
from pyocd.target.builtin.target_STM32F103RC import FLASH_ALGO, STM32F103RC

class STM32F103RB(STM32F103RC):
    MEMORY_MAP = MemoryMap(
        FlashRegion(start=0x08000000, length=0x20000, blocksize=0x400, is_boot_memory=True, algo=FLASH_ALGO),
        RamRegion(start=0x20000000, length=0x5000),
    )

TARGET["stm32f103rb"] = STM32F103RB
"""


def built(chip: str, core: str, optimization: str, folder: Path) -> Path:
    """The program of the Rust tests for a chip of this line."""
    elf = folder / f"{chip}{optimization}.elf"
    flags = (f"-mcpu={core}", f"-D{chip}", "-mthumb", optimization, "-ffreestanding", "-nostdlib")
    linked = ("-T", FIXTURES / "board.ld", FIXTURES / "roles.c", "-o", elf)
    subprocess.run(["arm-none-eabi-gcc", *flags, *linked], check=True)
    return elf


# pyOCD has no target for these chips: the nearest of the same line has the same flash interface.
@pytest.mark.parametrize(
    ("chip", "line", "core", "target"),
    [
        ("stm32f446re", "F446", "cortex-m4", "stm32f412xe"),
        ("stm32l476rg", "L476", "cortex-m4", "stm32l475xg"),
        ("stm32f103rb", "F103", "cortex-m3", "stm32f103rb"),
        ("stm32f072rb", "F072", "cortex-m0", "stm32f051"),
    ],
)
def test_pyocd_programs_the_chip(chip: str, line: str, core: str, target: str, tmp_path: Path) -> None:
    there = built(line, core, "-O2", tmp_path)
    wanted = built(line, core, "-O1", tmp_path)
    content = loaded(wanted)[FLASH_START]
    assert loaded(there)[FLASH_START] != content
    saved, script = tmp_path / "saved.bin", tmp_path / "script.py"
    script.write_text(MEDIUM_DENSITY, encoding="utf-8")
    scripted = ("--script", str(script))
    with Served(there, uart="tcp", probe=True, options=("--chip", chip)) as served:
        pyocd(served.probe, target, "load", *scripted, str(wanted))
        save = f"savemem {FLASH_START:#x} {len(content)} {saved}"
        pyocd(served.probe, target, "commander", *scripted, "-c", save)
    assert saved.read_bytes() == content


def pyocd(probe: str, target: str, subcommand: str, *words: str) -> None:
    """Runs stock pyOCD on the probe, which must end well."""
    chosen = ("--no-wait", "--uid", f"remote:{probe}", "--target", target)
    done = subprocess.run(
        [sys.executable, "-m", "pyocd", subcommand, *chosen, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TOOL_TIMEOUT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
