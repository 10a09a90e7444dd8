"""One of the two that are compared: the tables of a run, and how fast its wire was sampled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.errors import TwinError
from base.run_folder import folder as names
from base.run_folder.edges import MOST_SAMPLES, NS_PER_S
from base.run_folder.folder import read_observed
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.records import Boot, parse
from base.run_folder.tables import read_interrupts, read_operations
from capture.acquisition.plan_file import read_plan
from capture.joining.evidence import Evidence
from firmware.build import boards
from scenarios.plan import Plan

Integers = npt.NDArray[np.int64]

_ABSENT = -1


@dataclass(frozen=True)
class Side:
    """`operations` and `interrupts` have the columns of docs/reference/operations.md."""

    operations: pl.DataFrame
    interrupts: pl.DataFrame
    samplerate_hz: int

    def samples(self, column: str, rows: Integers) -> Integers:
        """Rows of a column of `interrupts` in ns, in whole samples again: int64[rows], -1 where it
        is null.
        """
        samples = self.interrupts[column][rows].to_numpy() * self.samplerate_hz / NS_PER_S
        present = np.isfinite(samples) & (np.abs(samples) < MOST_SAMPLES)
        return np.rint(np.where(present, samples, _ABSENT)).astype(np.int64)

    def only(self, seq: pl.Series) -> Side:
        """The same with these operations alone, and all interrupts."""
        return Side(
            self.operations.filter(pl.col("seq").is_in(seq.implode())), self.interrupts, self.samplerate_hz
        )


@dataclass(frozen=True)
class Board:
    """A stored run: what it says of itself, what it did, and its plan.

    `reset_flags` are those of RCC_CSR that its firmware found; None where BOOT does not tell. The
    record of them takes a time that goes by them, so a twin that finds others is out of step.
    """

    manifest: Manifest
    side: Side
    plan: Plan
    reset_flags: int | None = None

    @property
    def core_hz(self) -> int:
        """The core's clock as the firmware told it, or else the nominal one."""
        return self.manifest.firmware.core_hz or boards.nominal_hz(self.manifest.asked)

    @property
    def wait_states(self) -> int:
        """Of the flash, as the firmware of this board sets them."""
        return boards.board_of(self.manifest.asked).clock.wait_states

    @property
    def claimed_flash_acr(self) -> int | None:
        """FLASH_ACR as BOOT tells it, or else as the firmware was built to set it."""
        manifest = self.manifest
        text = manifest.firmware.flash_acr or manifest.asked.flash_acr
        try:
            return None if text is None else int(text, 16)
        except ValueError:
            return None


def read_board(folder: Path) -> Board:
    """Reads the run in `folder`. Raises TailscopeError where it cannot have a twin."""
    manifest = read_manifest(folder / names.MANIFEST)
    if not (folder / names.IMAGE).exists():
        raise TwinError(
            f"{folder} has no {names.IMAGE}, so nobody knows which operations ran: a capture that was "
            "imported without its image cannot be run again; give a run of `./lab scenario`."
        )
    side = Side(
        read_operations(folder / names.OPERATIONS),
        read_interrupts(folder / names.INTERRUPTS),
        manifest.samplerate_hz,
    )
    if side.operations.is_empty():
        raise TwinError(
            f"{folder} has no operation of which wire and records could be joined: there is nothing to "
            "compare; run the scenario again."
        )
    image = read_observed(folder, names.IMAGE)
    log = read_observed(folder, names.SERIAL_LOG) if (folder / names.SERIAL_LOG).exists() else b""
    boot = parse(log).first(Boot)
    return Board(manifest, side, read_plan(folder / names.PLAN, image), boot.reset_flags if boot else None)


def side_of(evidence: Evidence) -> Side:
    """The decoded evidence as a side of the comparison."""
    joined = evidence.joined
    return Side(joined.operations, joined.interrupts, evidence.edges.samplerate_hz)
