"""The run once more, on the virtual board: the same firmware, the same image."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.errors import TwinError
from base.run_folder import folder as names
from base.run_folder.edges import CHANNELS, MOST_SAMPLES, NS_PER_S, EdgeList, settled
from base.run_folder.folder import read_observed
from base.run_folder.manifest import Manifest, ToolReport, read_manifest
from base.run_folder.records import Boot, OperationRecord, parse
from base.run_folder.tables import read_interrupts, read_operations
from capture.acquisition.plan_file import read_plan
from capture.acquisition.source import longest_s
from capture.joining.evidence import decode
from firmware.build import boards
from scenarios.plan import Plan
from simulator import run as simulator
from simulator.build import BuildError, SimulatorError
from simulator.outputs import State

# One of the two that are compared: the tables of a run, and how fast its wire was sampled.


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


@dataclass(frozen=True)
class Twin:
    """The virtual board's run. `critical_pulses` int64[operations] counts those of CRIT in each
    operation. `flash_acr` is what its firmware read from the register.
    """

    side: Side
    critical_pulses: Integers
    flash_acr: int


@dataclass(frozen=True)
class Rerun:
    """The settings to repeat a run, at its samplerate or at a sample for each cycle if that is
    finer. A run by RTT is one by the serial line here: how fast the probe was read is not known,
    and within operations nothing is recorded.
    """

    elf: Path
    plan: Plan
    samplerate_hz: int
    core_hz: int
    reset_flags: int | None = None
    """Of RCC_CSR, as that board's firmware found them."""

    def whole(self, flash_acr: int | None = None) -> Twin:
        """The whole run, with the flash as the firmware sets it or as `flash_acr` says.

        Raises TwinError.
        """
        until = f"{round(longest_s(self.plan, self.core_hz) * NS_PER_S)}ns"
        done = self._run(until, flash_acr, edges=True, states_at=[until])
        edges = edge_list(done.edges, done.states[0], self.samplerate_hz)
        evidence = decode(self.plan, ToolReport(asked_samples=edges.total_samples), edges, done.uart)
        boot = evidence.log.first(Boot)
        if boot is None or evidence.joined.operations.is_empty():
            raise TwinError("The virtual board did not run these operations: is the image damaged?")
        joined = evidence.joined
        side = Side(joined.operations, joined.interrupts, evidence.edges.samplerate_hz)
        return Twin(side, joined.critical_pulses, boot.flash_acr)

    def beginning(self, until_s: float, flash_acr: int | None) -> pl.DataFrame:
        """The records of the operations up to `until_s` after reset: seq and cycles."""
        log = self._run(f"{round(until_s * NS_PER_S)}ns", flash_acr).records
        return pl.DataFrame(
            [
                (record.seq, record.critical_cycles, record.operation_cycles)
                for record in log.all(OperationRecord)
            ],
            schema={"seq": pl.UInt32, "critical": pl.Int64, "operation": pl.Int64},
            orient="row",
        )

    def _run(self, until: str, flash_acr: int | None, **options: object) -> simulator.Run:
        try:
            return simulator.run(
                self.elf,
                image=self.plan.image,
                until=until,
                flash_acr=flash_acr,
                reset_flags=self.reset_flags,
                **options,  # type: ignore[arg-type]
            )
        except BuildError:
            raise
        except SimulatorError as error:
            raise TwinError(f"The run cannot be run again: {error}") from None


def edge_list(edges: pl.DataFrame, end: State, samplerate_hz: int) -> EdgeList:
    """What an analyzer of `samplerate_hz` would have captured up to `end`.

    `edges` has the columns of simulator.outputs.read_edges(). Edges from before the core had its
    last clock are placed by that clock, too: nothing is measured there.
    """
    base = end.seconds * samplerate_hz
    step = Fraction(samplerate_hz) / end.core_hz
    common = base.denominator * step.denominator
    first = base.numerator * step.denominator
    each = step.numerator * base.denominator
    sample = np.array(
        [(first + (cycle - end.cycle) * each) // common for cycle in edges["cycle"].to_list()],
        dtype=np.int64,
    )
    bit = edges["channel"].replace_strict({name: 1 << n for n, name in enumerate(CHANNELS)}).to_numpy()
    # The word before the first edge: a channel that falls first was high.
    falling = edges.group_by("channel").first().filter(~pl.col("level"))["channel"]
    before = sum(1 << CHANNELS.index(name) for name in falling)
    word = np.bitwise_xor.accumulate(np.concatenate([[before], bit])).astype(np.uint8)
    rows = settled(np.concatenate([[0], sample]), word)
    return EdgeList(*rows, samplerate_hz, int(base) + 1)
