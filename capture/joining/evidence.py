"""All that is known of a finished run, sound or broken. Verdict and summary are drawn from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import AskedFirmware, ToolReport
from base.run_folder.quantities import Quantity, by_quantity
from base.run_folder.records import Boot, RecordLog, parse
from capture.instruments.calibration import core_tolerance
from capture.joining.budget import Budget, error_budget, rank_ns, unseen_ns
from capture.joining.join import Join, join
from capture.joining.latencies import LatencyWitness, latency_witnesses
from capture.reading.glitches import Glitches, without_glitches
from capture.reading.probes import Instructions, Probes, read_instructions, read_probes
from capture.reading.wire import Wire, read_wire
from firmware.build import boards
from scenarios.plan import Plan


@dataclass(frozen=True)
class Evidence:
    """One run: the plan, what came back over wire and serial line, and their join."""

    plan: Plan
    tools: ToolReport
    edges: EdgeList
    log: RecordLog
    wire: Wire
    joined: Join
    probes: Probes
    instructions: Instructions
    asked: AskedFirmware | None = None
    """What the firmware was built to be; None where nobody knows."""

    glitches: Glitches | None = None
    """What was left out of the capture; None where nobody asked."""

    @property
    def board(self) -> boards.Board:
        """The board that it was made on. Raises BoardError where its folder is gone."""
        return boards.board_of(self.asked)

    @property
    def agreement_cycles(self) -> float:
        """How far wire and DWT may differ on one pulse of a critical section, the clocks aside."""
        return self.wire.agreement_samples / self.wire.samples_per_cycle

    @property
    def clock_uncertainty(self) -> float:
        """How wrong the frames' clock ratio may be, as a part of a width that it is applied to."""
        return self.wire.clock.ratio_uncertainty if self.wire.clock else 0.0

    @property
    def tolerance_cycles(self) -> float:
        """How far wire and DWT may differ on one pulse of a critical section, in cycles."""
        longest: Any = self.joined.operations["dwt_cycles"].max()
        return self.agreement_cycles + self.clock_uncertainty * (longest or 0)

    @cached_property
    def latencies(self) -> tuple[LatencyWitness, ...]:
        """The latencies by wire and timer; none where the records tell of no timer."""
        return latency_witnesses(self)

    def skew_ns(self, interval: tuple[str, str] | None, calibrated_ns: float | None) -> float | None:
        """How far apart two channels may be seen: as the calibration tells, or the run's own timers
        where they tell more.
        """
        if calibrated_ns is None:
            return None
        cycles = (witness.from_others_cycles for witness in self.latencies if witness.of.channels == interval)
        return max(calibrated_ns, *(self.wire.ns_of(cycle) for cycle in cycles), 0.0)

    @cached_property
    def budgets(self) -> dict[str, Budget]:
        """The error budget of each quantity, by key."""

        def budget(quantity: Quantity, samples: pl.DataFrame) -> Budget:
            calibrated = error_budget(self, quantity, samples)
            return replace(
                calibrated,
                skew_ns=self.skew_ns(quantity.interval, calibrated.skew_ns),
                unseen_ns=unseen_ns(self, quantity),
                rank_ns=rank_ns(quantity, samples[quantity.column].to_numpy()),
                undecided=quantity.reach(self.joined.operations, self.joined.interrupts),
            )

        return by_quantity(self.joined.samples, budget)


def decode(
    plan: Plan,
    tools: ToolReport,
    edges: EdgeList,
    serial_bytes: bytes,
    counts: bytes | None = None,
    asked: AskedFirmware | None = None,
    *,
    ignore_glitches: bool = False,
) -> Evidence:
    """Decodes and joins what a run left behind. Of a broken run, as much as can be joined.

    `counts` is the table of what the virtual board counted, if it did. `asked` is what the firmware
    was built to be, if that is known. `ignore_glitches` leaves out pulses that are too short to be
    the firmware's. Raises CaptureError where the table is damaged and the probes
    are in it.
    """
    log = parse(serial_bytes)
    boot = log.first(Boot)
    core_hz, glitches = boot.core_hz if boot else boards.nominal_hz(asked), None
    if ignore_glitches and core_hz:
        edges, glitches = without_glitches(edges, log, core_hz)
    wire = read_wire(
        edges,
        core_hz,
        core_tolerance(boot, boards.board_of(asked).clock),
    )
    probes, instructions = read_probes(log, counts, asked), read_instructions(log, counts)
    joined = join(wire, log, plan, probes, instructions)
    return Evidence(plan, tools, edges, log, wire, joined, probes, instructions, asked, glitches)


def with_edges(evidence: Evidence, edges: EdgeList) -> Evidence:
    """The same run, had the wire shown these edges."""
    wire = read_wire(edges, evidence.wire.core_hz, evidence.wire.core_tolerance)
    joined = join(wire, evidence.log, evidence.plan, evidence.probes, evidence.instructions)
    return replace(evidence, edges=edges, wire=wire, joined=joined)
