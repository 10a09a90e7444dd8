"""The longest wait that a run shows to be possible: its longest masked section, and the entry; and
how long a more urgent task waits for the heap while another's section runs.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from base.metrology.quantiles import summarise
from base.run_folder.quantities import LATENCY, SECTION, TASK, Quantity
from base.run_folder.records import Boot
from capture.joining.budget import budget_on_wire, sum_of_terms
from capture.joining.evidence import Evidence
from capture.joining.sweep import control_may_run, with_lead_and_tail
from capture.summary.samples import baseline


def possible_wait(evidence: Evidence) -> dict[str, Any] | None:
    """What run.json says of it; None without a section or without an entry."""
    boot = evidence.log.first(Boot)
    waits = TASK if boot is not None and boot.locking == "scheduler" else LATENCY
    section_ns = evidence.joined.samples[SECTION.key][SECTION.column].max()
    entry = _entry_ns(evidence, waits)
    if not isinstance(section_ns, float) or entry is None:
        return None
    entry_ns, entry_n = entry
    seen = evidence.joined.samples[waits.key]
    seen_ns = seen[waits.column].max()
    fields = {"of": waits.key, "entry_ns": entry_ns, "entry_n": entry_n, "open": waits.still_open(seen) > 0}
    if isinstance(seen_ns, float) and seen_ns > section_ns + entry_ns:
        return {**fields, "by": "wait", "ns": seen_ns, "budget_ns": evidence.budgets[waits.key].total_ns}
    assert waits.interval is not None
    ends = ("CRIT", waits.interval[1])
    budget_ns = sum_of_terms(
        evidence.budgets[SECTION.key].total_ns, budget_on_wire(evidence.instruments, ends, entry_ns).total_ns
    )
    return {**fields, "by": "section", "ns": section_ns + entry_ns, "budget_ns": budget_ns}


def _entry_ns(evidence: Evidence, waits: Quantity) -> tuple[float, int] | None:
    """The entry, and of how many waits it is the median; of none it is an idle wait's.

    It is the median time from the fall of CRIT to the answer of a stimulus that came while CRIT was
    high, without the waits that a tick or a control interrupt may have had a part in.
    """
    joined, wire = evidence.joined, evidence.wire
    answered = waits.samples(joined.operations, joined.interrupts)
    ticked = pl.col("task_tick" if waits is TASK else "tick").fill_null(True)
    controlled = pl.Series(control_may_run(answered, joined.interrupts, wire.core_hz, waits.column))
    calm = answered.filter(~(ticked | controlled))
    tails_ns = with_lead_and_tail(calm, wire.critical, wire.edges.sample_ns, waits.column)["tail_ns"]
    if tails_ns.count():
        return summarise(tails_ns.drop_nulls()).median or 0.0, tails_ns.count()
    idle = baseline(waits, joined.interrupts, joined.critical_cost, wire.edges.sample_ns)
    return None if idle is None else (idle["value"], 0)


def heap_wait(evidence: Evidence) -> dict[str, Any] | None:
    """What run.json says of it; None where no second task uses the heap, or nothing was measured.

    In such a run TASK rises when the urgent task has the heap. So its wait is its latency, less the
    median of those whose stimulus met no critical section and that no tick touched. `resolution_ns`
    is the error budget of both.
    """
    budget_ns = evidence.budgets[TASK.key].total_ns
    if "urgent_task" not in evidence.plan.extras or budget_ns is None:
        return None
    answers = evidence.joined.samples[TASK.key]
    met = answers.filter(pl.col("hit") == "critical")
    free = answers.filter((pl.col("hit") != "critical") & ~pl.col("task_tick"))
    free_ns = summarise(free[TASK.column]).median
    if met.is_empty() or free_ns is None:
        return None
    worst = met.row(met[TASK.column].arg_max() or 0, named=True)
    return {
        **summarise(met[TASK.column]).less(free_ns).model_dump(),
        "resolution_ns": 2 * budget_ns,
        "undisturbed_ns": free_ns,
        "undisturbed_n": free.height,
        "seq": worst["operation_seq"],
    }
