"""What run.json says of a quantity beside its statistics: its maximum, intervals and baseline; and
of the critical sections, their bounds beside the longest that the run showed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from base.metrology.extremes import LAGS, ljung_box
from base.metrology.quantiles import nearest_rank, percentile_intervals, reach
from base.metrology.summaries import CONFIDENCE
from base.run_folder.manifest import SectionBound
from base.run_folder.quantities import Quantity, by_quantity
from base.run_folder.records import ALLOCATION_KINDS, Boot
from capture.joining.evidence import Evidence
from scenarios.operations import Allocate, Mark, decode

RAMP = (
    "The scenario is a ramp: its depths are chosen, not drawn, so a percentile over them has no sampling "
    "error and gets no interval."
)


def intervals(samples: Mapping[str, pl.DataFrame], ramp: bool) -> dict[str, Any]:
    """What run.json says of the intervals of the quantities' `samples`, by key.

    Where there are none, `refused` is the sentence why. An interval presumes independent draws.
    `independence_p` is what a test of that says of the samples, in the order of time. Where it is
    small, the interval is too narrow.
    """

    def of_quantity(quantity: Quantity, rows: pl.DataFrame) -> dict[str, Any]:
        values = rows[quantity.column].to_numpy()
        independence = ljung_box(values).p if len(values) > LAGS else None
        return {**percentile_intervals(values), "independence_p": independence}

    by_key = {} if ramp else by_quantity(samples, of_quantity)
    return {"confidence": CONFIDENCE, "refused": RAMP if ramp else None, "of": by_key}


def baseline(evidence: Evidence, quantity: Quantity) -> dict[str, Any] | None:
    """The baseline: its `value` in the unit of the quantity, and the `n` it is the median of.

    It is what a quantity shows where there is nothing to measure. A report may subtract it, from
    every statistic of the quantity or from none.

    Of a section it is an empty one between the same markers. Of a latency it is that of stimuli
    which fell outside all operations, where the processor does nothing but wait, and which no tick
    touched. `ends` is what it can be with those that may have met one. None where there is none to
    subtract: probes have none.
    """
    cost = evidence.joined.critical_cost
    if quantity.table == "interrupts":
        control = quantity.interval is not None and quantity.interval[0] == "CTRL"
        tick = "task_tick" if quantity.column == "task_latency_ns" else "tick"
        untouched = evidence.joined.interrupts.filter((pl.col("control") == control) & ~pl.col(tick))
        calm = untouched.drop_nulls(quantity.column)
        ordered = np.sort(calm.filter(_IDLE)[quantity.column].to_numpy())
        if not len(ordered):
            return None
        ways = (_IDLE & ~_PERHAPS_IDLE, _PERHAPS_IDLE)
        reached = reach(*(calm.filter(rows)[quantity.column] for rows in ways))
        ends = reached.median if reached else None
        return {"value": nearest_rank(ordered, 50), "n": len(ordered), "ends": ends}
    if cost is None or quantity.counted:
        return None
    value = cost.empty_cycles if quantity.interval is None else cost.empty_samples * evidence.edges.sample_ns
    return {"value": value, "n": cost.pulses, "ends": None}


_IDLE = pl.col("hit") == "none"
_PERHAPS_IDLE = (
    pl.when(_IDLE)
    .then(~pl.col("critical_sure") | ~pl.col("operation_sure"))
    .when(pl.col("hit") == "operation")
    .then(~pl.col("operation_sure"))
    .otherwise(~pl.col("critical_sure") & ~pl.col("operation_sure"))
)


def compare_bounds(bounds: Mapping[str, SectionBound], evidence: Evidence) -> dict[str, dict[str, Any]]:
    """What run.json says: each bound, the longest section observed, and their ratio.

    That is the longest of that name by DWT, in cycles, of all operations, measured or not. Those
    that the control interrupt hit are left out: they have its handler's cycles too.
    """
    told = evidence.log.first(Boot) is not None
    undisturbed = evidence.joined.operations.filter(pl.col("control_hits") == 0)
    aligned = pl.col("seq").is_in(aligned_allocations(evidence))
    by_kind = {}
    for name, bound in bounds.items():
        rows = pl.col("kind").is_in(["F", "E"])  # freed, and refused by the allocator: it ran in both
        if name != "free":
            rows = pl.col("kind").is_in(ALLOCATION_KINDS) & (aligned == (name == "allocate_aligned"))
        cycles, observed = bound.cycles, undisturbed.filter(rows)["dwt_cycles"].max()
        assert observed is None or isinstance(observed, int)
        by_kind[name] = {
            **bound.model_dump(),
            "ns": evidence.wire.ns_of(cycles) if cycles is not None and told else None,
            "observed_cycles": observed,
            "ratio": cycles / observed if cycles is not None and observed else None,
        }
    return by_kind


def exceeded_bounds(compared: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each of the compared bounds that the run refutes."""
    return [
        f"A section took {bound['observed_cycles']:,} cycles, more than its bound of {bound['cycles']:,} "
        f"({name}): do not trust the bound, and report what ran."
        for name, bound in compared.items()
        if bound["ratio"] is not None and bound["ratio"] < 1
    ]


def aligned_allocations(evidence: Evidence) -> list[int]:
    """The numbers of the operations that ask for an alignment of their own."""
    image = decode(evidence.plan.image).operations
    operations = [operation for operation in image if not isinstance(operation, Mark)]
    return [
        seq
        for seq, operation in enumerate(operations)
        if isinstance(operation, Allocate) and operation.align_log2
    ]
