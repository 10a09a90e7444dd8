"""Stock pyOCD with its own targets programs a virtual chip of each line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from base.paths import ROOT
from simulator.serve import Served
from tests.probed_board import FLASH_START, TOOL_TIMEOUT_S, loaded
from tests.tables import table

FIXTURES = ROOT / "simulator/tests/fixtures"


def built(chip: str, core: str, optimization: str, folder: Path) -> Path:
    """The program of the Rust tests for a chip of this line."""
    elf = folder / f"{chip}{optimization}.elf"
    flags = (f"-mcpu={core}", f"-D{chip}", "-mthumb", optimization, "-ffreestanding", "-nostdlib")
    linked = ("-T", FIXTURES / "board.ld", FIXTURES / "roles.c", "-o", elf)
    subprocess.run(["arm-none-eabi-gcc", *flags, *linked], check=True)
    return elf


# pyOCD has no target for these chips: the nearest of the same line has the same flash interface, or
# pyocd_user.py has one. The program ends asleep. pyOCD's target of the F103 leaves DBGMCU_CR's
# DBG_SLEEP off, so its bus has no clock then (RM0008, section 31.16.1) unless the reset is held.
@table
def test_pyocd_programs_the_chip(
    chip: str, line: str, core: str, target: str, connect: str, tmp_path: Path
) -> None:
    there = built(line, core, "-O2", tmp_path)
    wanted = built(line, core, "-O1", tmp_path)
    content = loaded(wanted)[FLASH_START]
    assert loaded(there)[FLASH_START] != content
    saved = tmp_path / "saved.bin"
    with Served(there, uart="tcp", probe=True, options=("--chip", chip)) as served:
        pyocd(served.probe, target, "load", str(wanted))
        save = f"savemem {FLASH_START:#x} {len(content)} {saved}"
        pyocd(served.probe, target, "commander", "--connect", connect, "-c", save)
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
