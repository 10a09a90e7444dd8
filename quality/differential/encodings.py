"""The encodings of the decode tables. The simulator lists them, so that none is forgotten."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from base.paths import ROOT
from simulator.build import linted

SIMULATOR = ROOT / "simulator"
BINARY = SIMULATOR / "target" / "differential" / "examples" / "differential"

Opcodes = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Encoding:
    """A row of the tables: the opcodes with `opcode & mask == value`.

    An earlier row of the same width takes precedence. A `baseline` row is one of ARMv6-M.
    """

    name: str
    wide: bool
    mask: int
    value: int
    baseline: bool = False

    @property
    def width_mask(self) -> int:
        """The bits that an opcode of this width has."""
        return 0xFFFF_FFFF if self.wide else 0xFFFF

    @property
    def label(self) -> str:
        """Name and value, since some encodings fill several rows."""
        return f"{self.name} [{self.value:0{8 if self.wide else 4}X}]"

    def covers(self, opcodes: Opcodes) -> Mask:
        """Which opcodes have the row's fixed bits."""
        return (opcodes & np.uint32(self.mask)) == np.uint32(self.value)


def build() -> Path:
    """Builds the core's side of the test if it is out of date, and returns its path."""
    chosen = ("--locked", "--profile", "differential", "-p", "cortex-m", "--example", "differential")
    command = [*linted(), "cargo", "build", *chosen]
    command += ["--target-dir", str(SIMULATOR / "target")]
    done = subprocess.run(command, cwd=SIMULATOR, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The core's side of the differential test does not build:\n{done.stderr[-2000:]}")
    return BINARY


def load(binary: Path, core: str = "cortex-m4") -> list[Encoding]:
    """All encodings of a core, in the order in which the decoder searches them."""
    listing = subprocess.run([binary, "encodings", core], capture_output=True, text=True, check=True).stdout
    return [Encoding(**json.loads(line)) for line in listing.splitlines()]


def described_by(rows: Sequence[Encoding], index: int, opcodes: Opcodes) -> Mask:
    """Which opcodes have row `index` as the first that covers them."""
    row = rows[index]
    covered = row.covers(opcodes)
    for earlier in rows[:index]:
        if earlier.wide == row.wide:
            covered &= ~earlier.covers(opcodes)
    return covered
