"""All that is known of a finished run, sound or broken. Verdict and summary are drawn from it.

It tells the error budget, too: how wrong each reported number may be, and why
(docs/reference/run-json.md). Resolution, clock and skew may pull either way. They are bounds, not
deviations, so they are added. Overhead is the part of a value that is the bench's own. It is always
there and the same for every allocator, so it is stated beside the sum. So is what one fault may
change unseen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from base.arrays import Floats
from base.metrology.summaries import PERCENTILES, Reach, rank, samples_needed
from base.run_folder.edges import NS_PER_S, EdgeList
from base.run_folder.manifest import AskedFirmware, ToolReport
from base.run_folder.quantities import Quantity, by_quantity
from base.run_folder.records import INTERNAL_CLOCK, Boot, EndRecord, RecordLog, parse
from capture.instruments.calibration import cost_cycles, fall_delay_samples, skew_between
from capture.joining.join import Join, join
from capture.joining.latencies import LatencyWitness, latency_witnesses
from capture.reading.probes import Instructions, Probes, read_instructions, read_probes
from capture.reading.wire import Glitches, Wire, read_wire, without_glitches
from firmware.build import boards
from scenarios.plan import Plan

Json = dict[str, Any]
"""What run.json says of something, by key."""
Reasons = Iterator[str]
"""What a rule says: a sentence for each thing that it finds wrong."""


def worst_row(table: pl.DataFrame, column: str) -> Json:
    """The first row whose `column` is farthest from 0; nothing of a table without rows."""
    return table.row(table[column].abs().arg_max() or 0, named=True) if table.height else {}


def sum_of_terms(*terms_ns: float | None) -> float | None:
    """Their sum; None where one is not known."""
    terms = [term for term in terms_ns if term is not None]
    return math.fsum(terms) if len(terms) == len(terms_ns) else None


@dataclass(frozen=True)
class Budget:
    """The terms of one quantity's budget in ns, each None where the run does not tell it.

    `undecided` is how far its statistics can move with samples that may not belong; None where all
    do.
    """

    resolution_ns: float | None
    clock_ns: float | None
    skew_ns: float | None
    overhead_ns: float | None
    unseen_ns: float | None = None
    rank_ns: float | None = None
    undecided: Reach | None = None

    @property
    def total_ns(self) -> float | None:
        """The value is true to plus or minus this; None where a term is not known."""
        return sum_of_terms(self.resolution_ns, self.clock_ns, self.skew_ns)

    def as_json(self, core_hz: int) -> Json:
        """Each term and the total, in ns and in cycles of a core of `core_hz`; and the reach."""
        terms = {**vars(self), "total_ns": self.total_ns}
        undecided = terms.pop("undecided")
        return {
            **{
                name.removesuffix("_ns"): {
                    "ns": ns,
                    "cycles": None if ns is None else ns * core_hz / NS_PER_S,
                }
                for name, ns in terms.items()
            },
            "undecided": undecided,
        }


EXACT = Budget(0.0, 0.0, 0.0, 0.0)


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

    @cached_property
    def boot(self) -> Boot | None:
        """What the firmware said of itself as it began."""
        return self.log.first(Boot)

    @cached_property
    def end(self) -> EndRecord | None:
        """What it said as it ended."""
        return self.log.first(EndRecord)

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

    @cached_property
    def budgets(self) -> dict[str, Budget]:
        """The error budget of each quantity, by key, at its greatest value.

        What is counted and not read off the wire is exact: the cycles between two reads of CYCCNT
        are counted by the clock that moves the code.
        """

        def budget(quantity: Quantity, samples: pl.DataFrame) -> Budget:
            longest_ns: Any = samples[quantity.column].max()
            return replace(
                self._on_wire(quantity.interval, longest_ns or 0.0) if quantity.interval else EXACT,
                overhead_ns=self._overhead_ns(quantity),
                unseen_ns=self._unseen_ns(quantity),
                rank_ns=rank_ns(quantity, samples[quantity.column].to_numpy()),
                undecided=quantity.reach(self.joined.operations, self.joined.interrupts),
            )

        return by_quantity(self.joined.samples, budget)

    def allowed_ns(self, interval: tuple[str, str], ns: float | None) -> float | None:
        """How wrong a time of `ns` may be that lasts from an edge of one channel to an edge of
        another; None of None.
        """
        return None if ns is None else self._on_wire(interval, ns).total_ns

    def _on_wire(self, interval: tuple[str, str], ns: float) -> Budget:
        """The budget of a time of `ns` between edges of two channels, without its overhead.

        Times count samples at their nominal rate. The fit says how far the analyzer's clock and the
        core's differ, and how surely; a core's clock that may be off itself proves that much less.
        Of two channels the skew is added, as the calibration tells it, or the run's own timers
        where they tell more; of a width, how much later its falling edge is seen.
        """
        wire, sample_ns, (first, second) = self.wire, self.wire.edges.sample_ns, interval
        fit = self.joined.counter or wire.clock
        if first == second:
            delay = fall_delay_samples(wire, first)
            apart_samples = None if delay is None else abs(delay)
        else:
            skew = skew_between(wire, first, second)
            apart_samples = None if skew is None else skew.bound
        witnesses = (witness for witness in self.latencies if witness.of.channels == interval)
        timed_ns = (wire.ns_of(witness.from_others_cycles) for witness in witnesses)
        return Budget(
            resolution_ns=sample_ns,
            clock_ns=None
            if fit is None
            else ns * (abs(fit.ratio - 1) + fit.ratio_uncertainty + wire.core_tolerance),
            skew_ns=None if apart_samples is None else max(apart_samples * sample_ns, *timed_ns, 0.0),
            overhead_ns=None,
        )

    def _overhead_ns(self, quantity: Quantity) -> float | None:
        """Of a section by the counter it is what the markers do between their reads; of one on the
        wire, an empty one; of a latency, the instructions that raise the handler's pin.
        """
        if quantity.counted:
            return 0.0
        cost = self.joined.critical_cost
        if quantity.interval == ("CRIT", "CRIT"):
            return None if cost is None else cost.empty_samples * self.wire.edges.sample_ns
        if quantity.interval is None:
            cycles = None if cost is None else cost.empty_cycles
        else:
            cycles = pin_cost_cycles(self.log)
        return None if cycles is None else self.wire.ns_of(cycles)

    def _unseen_ns(self, quantity: Quantity) -> float | None:
        """The most that one moved edge changes of the quantity's maximum unseen; None without a
        witness. What the records alone tell changes by nothing: they have a checksum.
        """
        if quantity.interval is None:
            return 0.0
        if quantity.interval == ("CRIT", "CRIT"):
            return self.wire.ns_of(2 * self.tolerance_cycles)
        for witness in self.latencies:
            if witness.of.channels == quantity.interval and not witness.compared.is_empty():
                widest: Any = (witness.compared["number"] * witness.compared["allowed_cycles"]).max()
                return self.wire.ns_of(2 * widest)
        return None


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
    # The core's clock may be off by what feeds it; that of a crystal is not.
    clock, internal = boards.board_of(asked).clock, boot is not None and boot.clock == INTERNAL_CLOCK
    wire = read_wire(edges, core_hz, clock.family.internal_tolerance if internal else 0.0)
    probes, instructions = read_probes(log, counts, asked), read_instructions(log, counts)
    joined = join(wire, log, plan, probes, instructions)
    return Evidence(plan, tools, edges, log, wire, joined, probes, instructions, asked, glitches)


def with_edges(evidence: Evidence, edges: EdgeList) -> Evidence:
    """The same run, had the wire shown these edges."""
    wire = read_wire(edges, evidence.wire.core_hz, evidence.wire.core_tolerance)
    joined = join(wire, evidence.log, evidence.plan, evidence.probes, evidence.instructions)
    return replace(evidence, edges=edges, wire=wire, joined=joined)


def pin_cost_cycles(log: RecordLog) -> int | None:
    """What raising a pin takes in a handler, in cycles; None where the records do not tell.

    It is the most that raising a pin and reading the counter took, less the least that a read took.
    """
    pin, read = cost_cycles(log, "PIN"), cost_cycles(log, "READ")
    return pin[1] - read[0] if pin and read else None


def rank_ns(quantity: Quantity, values: Floats) -> float:
    """The most that a percentile of the latencies changes if one answer moves past it.

    Between operations the timer tells the least latency and the greatest alone. An answer there may
    move between the two unseen, and every percentile on its way shifts by one rank.
    """
    if quantity.table != "interrupts" or len(values) < 2:
        return 0.0
    steps = np.diff(np.sort(values))
    shares = (share for share in PERCENTILES.values() if len(values) >= samples_needed(share))
    at = (rank(len(values), share) - 1 for share in shares)
    return float(max(steps[max(place - 1, 0) : place + 1].max() for place in at))
