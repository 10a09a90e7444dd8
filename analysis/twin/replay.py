"""The run once more, on the virtual board: the same firmware, the same image."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from analysis.errors import TwinError
from base.arrays import Integers
from base.run_folder import folder as names
from base.run_folder.edges import NS_PER_S
from base.run_folder.manifest import Manifest, ToolReport, read_manifest
from base.run_folder.records import Boot, OperationRecord, parse
from base.run_folder.tables import read_interrupts, read_operations
from capture.acquisition.source import longest_s
from capture.acquisition.stored import read_plan
from capture.joining.evidence import decode
from firmware.build import boards
from scenarios.plan import Plan
from simulator.captured import Captured, capture


@dataclass(frozen=True)
class Side:
    """One of the two that are compared: the tables of a run, and how fast its wire was sampled.

    `operations` and `interrupts` have the columns of docs/reference/operations.md.
    """

    operations: pl.DataFrame
    interrupts: pl.DataFrame
    samplerate_hz: int

    def samples(self, column: str, rows: Integers) -> pl.Series:
        """Rows of a column of `interrupts` in ns, in whole samples again; null where it is."""
        samples = self.interrupts[column][rows] * self.samplerate_hz / NS_PER_S
        return samples.round().cast(pl.Int64, strict=False)

    def only(self, seq: pl.Series) -> Side:
        """The same with these operations alone, and all interrupts."""
        return replace(self, operations=self.operations.filter(pl.col("seq").is_in(seq.implode())))


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
    image = names.read_observed(folder, names.IMAGE)
    log = names.read_observed(folder, names.SERIAL_LOG) if (folder / names.SERIAL_LOG).exists() else b""
    boot = parse(log).first(Boot)
    return Board(manifest, side, read_plan(folder / names.PLAN, image), boot.reset_flags if boot else None)


# The run is repeated at its samplerate, or at a sample for each cycle if that is finer. A run by
# RTT is one by the serial line here: how fast the probe was read is not known, and within
# operations nothing is recorded.


def whole(elf: Path, board: Board, flash_acr: int | None = None) -> Side:
    """The whole run of `elf`, with the flash as the firmware sets it or as `flash_acr` says.
    Operations have one more column: `critical_pulses`, how many CRIT had.

    Raises TailscopeError.
    """
    plan = board.plan.recorded_by("uart")
    wire = _captured(elf, board, longest_s(plan, board.core_hz), flash_acr)
    report = ToolReport(asked_samples=wire.edges.total_samples)
    evidence = decode(plan, report, wire.edges, wire.uart, asked=board.manifest.asked)
    joined = evidence.joined
    if evidence.log.first(Boot) is None or joined.operations.is_empty():
        raise TwinError("The virtual board did not run these operations: is the image damaged?")
    operations = joined.operations.with_columns(critical_pulses=pl.Series(joined.critical_pulses))
    return Side(operations, joined.interrupts, evidence.edges.samplerate_hz)


def beginning(elf: Path, board: Board, until_s: float, flash_acr: int) -> pl.DataFrame:
    """The records of the operations up to `until_s` after reset: seq and cycles. Raises
    TailscopeError.
    """
    log = parse(_captured(elf, board, until_s, flash_acr).uart)
    return pl.DataFrame(
        [
            (record.seq, record.critical_cycles, record.operation_cycles)
            for record in log.all(OperationRecord)
        ],
        schema={"seq": pl.UInt32, "critical": pl.Int64, "operation": pl.Int64},
        orient="row",
    )


def _captured(elf: Path, board: Board, until_s: float, flash_acr: int | None) -> Captured:
    samplerate_hz = max(board.manifest.samplerate_hz, board.core_hz)
    options = [*boards.board_of(board.manifest.asked).virtual_options]
    options += [] if flash_acr is None else ["--flash-acr", f"{flash_acr:#x}"]
    options += [] if board.reset_flags is None else ["--reset-flags", f"{board.reset_flags:#x}"]
    return capture(
        elf,
        board.plan.recorded_by("uart").image,
        samplerate_hz,
        round(until_s * samplerate_hz),
        counts={},
        count_window="",
        instructions_while="",
        options=options,
    )
