"""What run.json says of a quantity beside its statistics: its intervals and its baseline; of the
critical sections, their bounds beside the longest that the run showed; and the waits that a run
shows to be possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from polars import col

from base.metrology.extremes import LAGS, ljung_box
from base.metrology.quantiles import nearest_rank, percentile_intervals, reach, summarise
from base.metrology.summaries import CONFIDENCE
from base.run_folder.manifest import SectionBound
from base.run_folder.quantities import LATENCY, SECTION, TASK, Quantity, by_quantity
from base.run_folder.records import ALLOCATION_KINDS
from capture.joining.evidence import Evidence, Json, sum_of_terms, worst_row
from capture.joining.sweep import control_may_run, with_lead_and_tail
from scenarios.operations import Allocate, Mark, decode

RAMP = (
    "The scenario is a ramp: its depths are chosen, not drawn, so a percentile over them has no sampling "
    "error and gets no interval."
)


def intervals(samples: Mapping[str, pl.DataFrame], ramp: bool) -> Json:
    """What run.json says of the intervals of the quantities' `samples`, by key.

    Where there are none, `refused` is the sentence why. An interval presumes independent draws.
    `independence_p` is what a test of that says of the samples, in the order of time. Where it is
    small, the interval is too narrow.
    """

    def of_quantity(quantity: Quantity, rows: pl.DataFrame) -> Json:
        values = rows[quantity.column].to_numpy()
        return {
            **percentile_intervals(values),
            "independence_p": ljung_box(values).p if len(values) > LAGS else None,
        }

    return {
        "confidence": CONFIDENCE,
        "refused": RAMP if ramp else None,
        "of": {} if ramp else by_quantity(samples, of_quantity),
    }


def baseline(evidence: Evidence, quantity: Quantity) -> Json | None:
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
        untouched = evidence.joined.interrupts.filter((col.control == control) & ~col(tick))
        calm = untouched.drop_nulls(quantity.column)
        ordered = np.sort(calm.filter(_IDLE)[quantity.column].to_numpy())
        if not len(ordered):
            return None
        surely, perhaps = (
            calm.filter(rows)[quantity.column] for rows in (_IDLE & ~_PERHAPS_IDLE, _PERHAPS_IDLE)
        )
        reached = reach(surely, perhaps)
        return {
            "value": nearest_rank(ordered, 50),
            "n": len(ordered),
            "ends": reached.median if reached else None,
        }
    if cost is None or quantity.counted:
        return None
    return {
        "value": cost.empty_samples * evidence.edges.sample_ns if quantity.interval else cost.empty_cycles,
        "n": cost.pulses,
        "ends": None,
    }


_IDLE = col.hit == "none"
_PERHAPS_IDLE = (
    pl.when(_IDLE)
    .then(~col.critical_sure | ~col.operation_sure)
    .when(col.hit == "operation")
    .then(~col.operation_sure)
    .otherwise(~col.critical_sure & ~col.operation_sure)
)


def compare_bounds(bounds: Mapping[str, SectionBound], evidence: Evidence) -> dict[str, Json]:
    """What run.json says: each bound, the longest section observed, and their ratio.

    That is the longest of that name by DWT, in cycles, of all operations, measured or not. Those
    that the control interrupt hit are left out: they have its handler's cycles too.
    """
    undisturbed = evidence.joined.operations.filter(col.control_hits == 0)
    aligned = col.seq.is_in(aligned_allocations(evidence))
    by_kind = {}
    for name, bound in bounds.items():
        rows = col.kind.is_in(["F", "E"])  # freed, and refused by the allocator: it ran in both
        if name != "free":
            rows = col.kind.is_in(ALLOCATION_KINDS) & (aligned == (name == "allocate_aligned"))
        cycles, observed = bound.cycles, undisturbed.filter(rows)["dwt_cycles"].max()
        assert observed is None or isinstance(observed, int)
        by_kind[name] = {
            **bound.model_dump(),
            "ns": evidence.wire.ns_of(cycles) if cycles is not None and evidence.boot else None,
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
    operations = (operation for operation in image if not isinstance(operation, Mark))
    return [
        seq
        for seq, operation in enumerate(operations)
        if isinstance(operation, Allocate) and operation.align_log2
    ]


def possible_wait(evidence: Evidence) -> Json | None:
    """What run.json says of it; None without a section or without an entry.

    The entry is the median time from the fall of CRIT to the answer of a stimulus that came while
    CRIT was high, without the waits that a tick or a control interrupt may have had a part in; of
    none it is an idle wait's.
    """
    boot, joined, wire = evidence.boot, evidence.joined, evidence.wire
    waits = TASK if boot is not None and boot.locking == "scheduler" else LATENCY
    section_ns: Any = joined.samples[SECTION.key][SECTION.column].max()
    seen = joined.samples[waits.key]
    ticked = col("task_tick" if waits is TASK else "tick").fill_null(True)
    controlled = pl.Series(control_may_run(seen, joined.interrupts, wire.core_hz, waits.column))
    calm = seen.filter(~(ticked | controlled))
    tails_ns = with_lead_and_tail(calm, wire, waits.column)["tail_ns"].drop_nulls()
    entry_ns: Any = summarise(tails_ns).median
    if tails_ns.is_empty() and (idle := baseline(evidence, waits)):
        entry_ns = idle["value"]
    if section_ns is None or entry_ns is None:
        return None
    seen_ns: Any = seen[waits.column].max()
    fields = {
        "of": waits.key,
        "entry_ns": entry_ns,
        "entry_n": len(tails_ns),
        "open": waits.still_open(seen) > 0,
    }
    if seen_ns is not None and seen_ns > section_ns + entry_ns:
        return {**fields, "by": "wait", "ns": seen_ns, "budget_ns": evidence.budgets[waits.key].total_ns}
    assert waits.interval is not None
    entry_budget_ns = evidence.allowed_ns(("CRIT", waits.interval[1]), entry_ns)
    return {
        **fields,
        "by": "section",
        "ns": section_ns + entry_ns,
        "budget_ns": sum_of_terms(evidence.budgets[SECTION.key].total_ns, entry_budget_ns),
    }


def heap_wait(evidence: Evidence) -> Json | None:
    """What run.json says of it; None where no second task uses the heap, or nothing was measured.

    In such a run TASK rises when the urgent task has the heap. So its wait is its latency, less the
    median of those whose stimulus met no critical section and that no tick touched. `resolution_ns`
    is the error budget of both.
    """
    budget_ns = evidence.budgets[TASK.key].total_ns
    if "urgent_task" not in evidence.plan.extras or budget_ns is None:
        return None
    answers = evidence.joined.samples[TASK.key]
    met = answers.filter(col.hit == "critical")
    free = answers.filter((col.hit != "critical") & ~col.task_tick)
    free_ns = summarise(free[TASK.column]).median
    if met.is_empty() or free_ns is None:
        return None
    return {
        **summarise(met[TASK.column]).less(free_ns).model_dump(),
        "resolution_ns": 2 * budget_ns,
        "undisturbed_ns": free_ns,
        "undisturbed_n": free.height,
        "seq": worst_row(met, TASK.column)["operation_seq"],
    }
