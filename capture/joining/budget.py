"""The error budget: how wrong each reported number may be, and where that comes from (docs/SPEC.md, section
5).

Resolution, clock and skew may pull either way and are bounds, not deviations: they are added. Overhead is the
part of the value that is the bench's own; it is always in it, the same for every allocator, and is stated
beside the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from capture.instruments.calibration import MarkerCost
from capture.instruments.clocks import CounterFit
from capture.instruments.skew import skew_between
from capture.reading.wire import NS_PER_S, Wire
from capture.run_folder.quantities import Quantity, of_each
from capture.run_folder.records import CostRecord, RecordLog


@dataclass(frozen=True)
class Budget:
    """Four terms in ns, each None where the run does not tell it."""

    resolution_ns: float | None
    clock_ns: float | None
    skew_ns: float | None
    overhead_ns: float | None

    @property
    def total_ns(self) -> float | None:
        """The value is true to plus or minus this."""
        terms = (self.resolution_ns, self.clock_ns, self.skew_ns)
        known = [term for term in terms if term is not None]
        return sum(known) if len(known) == len(terms) else None

    def as_json(self, core_hz: int) -> dict[str, Any]:
        """Each term and the total, in ns and in cycles of the core."""
        terms = {
            "resolution": self.resolution_ns,
            "clock": self.clock_ns,
            "skew": self.skew_ns,
            "total": self.total_ns,
            "overhead": self.overhead_ns,
        }
        return {
            name: {"ns": ns, "cycles": None if ns is None else ns * core_hz / NS_PER_S}
            for name, ns in terms.items()
        }


EXACT = Budget(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Instruments:
    """What the calibration found: of the analyzer, the markers and the counter."""

    wire: Wire
    counter: CounterFit | None
    critical_cost: MarkerCost | None
    log: RecordLog

    @property
    def sample_ns(self) -> float:
        return NS_PER_S / self.wire.edges.samplerate_hz

    @property
    def agreement_cycles(self) -> float:
        """How far wire and DWT may lie apart for one critical section, apart from the clocks.

        A width is quantised at both edges: it is known to one sample. At or above the core clock the marker
        cost is exact, since it is a whole number of cycles; below, it is known to one sample itself and a
        comparison to two.
        """
        samples = 1.0 if self.wire.edges.samplerate_hz >= self.wire.core_hz else 2.0
        return samples / self.wire.samples_per_cycle

    @property
    def clock_share(self) -> float:
        """The part of a width by which the frames' clock ratio may be wrong, applied to wire against DWT."""
        return self.wire.clock.ratio_uncertainty if self.wire.clock else 0.0


def error_budgets(
    instruments: Instruments, operations: pl.DataFrame, interrupts: pl.DataFrame
) -> dict[str, Budget]:
    """The budget of each quantity of run.json, at its greatest value."""
    return of_each(
        operations,
        interrupts,
        lambda quantity, samples: _budget(instruments, quantity, samples[quantity.column]),
    )


def _budget(instruments: Instruments, quantity: Quantity, values: pl.Series) -> Budget:
    if quantity.interval is None:
        return _counted(instruments, quantity)
    longest = values.max()
    return Budget(
        resolution_ns=instruments.sample_ns,
        clock_ns=_clock_ns(instruments, float(longest) if isinstance(longest, float) else 0.0),
        skew_ns=_skew_ns(instruments, *quantity.interval),
        overhead_ns=_overhead_ns(instruments, quantity),
    )


def _counted(instruments: Instruments, quantity: Quantity) -> Budget:
    """Probes are counted, and so are the cycles between two reads by the same clock that moves the code:
    exact. The section that DWT sees holds what the markers do between their reads.
    """
    cost = instruments.critical_cost
    if quantity.column == "probes":
        return EXACT
    own_ns = None if cost is None else cost.empty_cycles * NS_PER_S / instruments.wire.core_hz
    return Budget(0.0, 0.0, 0.0, own_ns)


def _clock_ns(instruments: Instruments, longest_ns: float) -> float | None:
    """Times are told by the analyzer's clock at its word; the fit says how far that and the core's differ."""
    fit = instruments.counter or instruments.wire.clock
    return None if fit is None else longest_ns * (abs(fit.ratio - 1) + fit.ratio_uncertainty)


def _skew_ns(instruments: Instruments, first: str, second: str) -> float | None:
    if first == second:
        return 0.0
    skew = skew_between(instruments.wire, first, second)
    return None if skew is None else skew.bound * instruments.sample_ns


def _overhead_ns(instruments: Instruments, quantity: Quantity) -> float | None:
    """Of a section: an empty one. Of a latency: the instructions by which the handler raises its pin."""
    if quantity.interval == ("CRIT", "CRIT"):
        cost = instruments.critical_cost
        return None if cost is None else cost.empty_samples * instruments.sample_ns
    cycles = pin_cost_cycles(instruments.log)
    return None if cycles is None else cycles * NS_PER_S / instruments.wire.core_hz


def pin_cost_cycles(log: RecordLog) -> int | None:
    """Raising a pin from a handler: the most that it took with a read of the counter, less the least read."""
    costs = log.all(CostRecord)
    pins = [cost.most_cycles for cost in costs if cost.instrument == "PIN"]
    reads = [cost.least_cycles for cost in costs if cost.instrument == "READ"]
    return max(pins) - min(reads) if pins and reads else None
