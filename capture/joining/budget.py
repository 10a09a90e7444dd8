"""The error budget: how wrong each reported number may be, and why (docs/reference/run-json.md).

Resolution, clock and skew may pull either way. They are bounds, not deviations, so they are added.
Overhead is the part of a value that is the bench's own. It is always there and the same for every
allocator, so it is stated beside the sum. So is what one fault may change unseen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from base.metrology.summaries import PERCENTILES, Reach, rank, samples_needed
from base.run_folder.edges import NS_PER_S
from base.run_folder.quantities import Quantity
from base.run_folder.records import CostRecord, RecordLog
from capture.instruments.calibration import fall_delay_samples, skew_between

if TYPE_CHECKING:
    from capture.joining.evidence import Evidence


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

    def as_json(self, core_hz: int) -> dict[str, Any]:
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


def error_budget(evidence: Evidence, quantity: Quantity, samples: pl.DataFrame) -> Budget:
    """The budget of a quantity, which these `samples` have, at its greatest value.

    What is counted and not read off the wire is exact: the cycles between two reads of CYCCNT are
    counted by the clock that moves the code. The overhead of such a section is what the markers do
    between their reads; that of one on the wire, an empty one; of a latency, the instructions that
    raise the handler's pin.
    """
    cost, wire = evidence.joined.critical_cost, evidence.wire
    if quantity.counted:
        return EXACT
    if quantity.interval is None:
        return replace(EXACT, overhead_ns=None if cost is None else wire.ns_of(cost.empty_cycles))
    if quantity.interval == ("CRIT", "CRIT"):
        overhead_ns = None if cost is None else cost.empty_samples * wire.edges.sample_ns
    else:
        pin_cycles = pin_cost_cycles(evidence.log)
        overhead_ns = None if pin_cycles is None else wire.ns_of(pin_cycles)
    longest: Any = samples[quantity.column].max()
    on_wire = budget_on_wire(evidence, quantity.interval, longest or 0.0)
    return replace(on_wire, overhead_ns=overhead_ns)


def budget_on_wire(evidence: Evidence, interval: tuple[str, str], ns: float) -> Budget:
    """The budget of a time of `ns` between edges of two channels, without its overhead.

    Times count samples at their nominal rate. The fit says how far the analyzer's clock and the
    core's differ, and how surely; a core's clock that may be off itself proves that much less. Of
    two channels the skew is added; of a width, how much later its falling edge is seen.
    """
    wire = evidence.wire
    fit = evidence.joined.counter or wire.clock
    first, second = interval
    if first == second:
        delay = fall_delay_samples(wire, first)
        apart_samples = None if delay is None else abs(delay)
    else:
        skew = skew_between(wire, first, second)
        apart_samples = None if skew is None else skew.bound
    return Budget(
        resolution_ns=wire.edges.sample_ns,
        clock_ns=None
        if fit is None
        else ns * (abs(fit.ratio - 1) + fit.ratio_uncertainty + wire.core_tolerance),
        skew_ns=None if apart_samples is None else apart_samples * wire.edges.sample_ns,
        overhead_ns=None,
    )


def pin_cost_cycles(log: RecordLog) -> int | None:
    """What raising a pin takes in a handler, in cycles; None where the records do not tell.

    It is the most that raising a pin and reading the counter took, less the least that a read took.
    """
    costs = log.all(CostRecord)
    pins = [cost.most_cycles for cost in costs if cost.instrument == "PIN"]
    reads = [cost.least_cycles for cost in costs if cost.instrument == "READ"]
    return max(pins) - min(reads) if pins and reads else None


def unseen_ns(evidence: Evidence, quantity: Quantity) -> float | None:
    """The most that one moved edge changes of the quantity's maximum unseen; None without a
    witness. What the records alone tell changes by nothing: they have a checksum.
    """
    if quantity.interval is None:
        return 0.0
    if quantity.interval == ("CRIT", "CRIT"):
        return evidence.wire.ns_of(2 * evidence.tolerance_cycles)
    for witness in evidence.latencies:
        if witness.of.channels == quantity.interval and not witness.compared.is_empty():
            widest: Any = (witness.compared["number"] * witness.compared["allowed_cycles"]).max()
            return evidence.wire.ns_of(2 * widest)
    return None


def rank_ns(quantity: Quantity, values: npt.NDArray[np.float64]) -> float:
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
