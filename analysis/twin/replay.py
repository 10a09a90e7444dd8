"""The run once more, on the virtual board: the same firmware, the same image."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

from analysis.errors import TwinError
from analysis.twin.side import Integers, Side, side_of
from base.run_folder.edges import CHANNELS, NS_PER_S, EdgeList, settled
from base.run_folder.manifest import ToolReport
from base.run_folder.records import Boot, OperationRecord, RecordLog
from capture.acquisition.duration import longest_s
from capture.joining.evidence import decode
from scenarios.plan import Plan
from simulator import run as simulator
from simulator.build import BuildError, SimulatorError
from simulator.outputs import State


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
    wait_states: int
    """Of the flash, as the firmware of that board sets them."""
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
        return Twin(side_of(evidence), evidence.joined.critical_pulses, boot.flash_acr)

    def beginning(self, until_s: float, flash_acr: int | None) -> pl.DataFrame:
        """The records of the operations up to `until_s` after reset: seq and cycles."""
        return _cycles(self._run(f"{round(until_s * NS_PER_S)}ns", flash_acr).records)

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
    before = _levels_before(edges)
    word = np.bitwise_xor.accumulate(np.concatenate([[before], bit])).astype(np.uint8)
    rows = settled(np.concatenate([[0], sample]), word)
    return EdgeList(*rows, samplerate_hz, int(base) + 1)


def _levels_before(edges: pl.DataFrame) -> int:
    """The word before the first edge: a channel that falls first was high."""
    falling = edges.group_by("channel").first().filter(~pl.col("level"))["channel"]
    return sum(1 << CHANNELS.index(name) for name in falling)


def _cycles(log: RecordLog) -> pl.DataFrame:
    records = log.all(OperationRecord)
    return pl.DataFrame(
        {
            "seq": [record.seq for record in records],
            "critical": [record.critical_cycles for record in records],
            "operation": [record.operation_cycles for record in records],
        },
        schema={"seq": pl.UInt32, "critical": pl.Int64, "operation": pl.Int64},
    )
