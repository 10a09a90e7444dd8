"""A swept stimulus: it meets each operation once, each time later (docs/reference/run-json.md).

The stimuli of a sweep and the operations that asked for them are matched in order, one to one.
Where their numbers differ, nothing is matched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from polars import col

from base.run_folder.edges import NS_PER_S, Levels
from capture.joining.evidence import Json, Reasons, sum_of_terms, worst_row
from capture.joining.join import Join
from capture.reading.wire import Wire
from scenarios.generators.latency_sweep import EMPTY
from scenarios.plan import Plan
from scenarios.stimulus import CONTROL_CYCLES

_NEVER = np.iinfo(np.int64).max


def swept_operations(plan: Plan) -> pl.DataFrame:
    """The operations of `plan` that ask for a stimulus, in order."""
    return plan.operations.filter(col.offset > 0)


def match_stimuli(plan: Plan, joined: Join, core_hz: int) -> pl.DataFrame | None:
    """One row per stimulus of a sweep, with the operation that asked for it.

    It has the columns of both tables and two more. `phase_samples` Int64 is from the rise of OP to
    the stimulus, negative before it. `disturbed` Boolean is true where a tick or a control
    interrupt may have had a part in the latency. `core_hz` is the core's clock in the run. None
    where there is no sweep, or where stimuli and operations differ in number.
    """
    operations, interrupts = joined.operations, joined.interrupts
    swept = operations.filter(col.seq.is_in(swept_operations(plan)["seq"].implode())).sort("seq")
    stimuli = interrupts.filter(~col.control).sort("sample")
    if plan.stimulus.mode != "sweep" or swept.height != stimuli.height or swept.is_empty():
        return None
    both = pl.concat([stimuli, swept], how="horizontal")
    controlled = pl.Series(control_may_run(stimuli, interrupts, core_hz))
    return both.with_columns(
        phase_samples=col.sample - col.start_sample,
        disturbed=col.tick.fill_null(True) | controlled,
    )


def control_may_run(
    stimuli: pl.DataFrame, interrupts: pl.DataFrame, core_hz: int, column: str = "isr_latency_ns"
) -> Levels:
    """Whether a control interrupt may have run from each stimulus to its answer, bool[n]."""
    control = interrupts.filter("control").drop_nulls("isr_latency_ns").sort("sample")
    begin = (control["time_ns"] + control["isr_latency_ns"]).to_numpy()
    since = stimuli["time_ns"].to_numpy()
    until = since + stimuli[column].fill_null(0.0).to_numpy()
    still_running = since - CONTROL_CYCLES * NS_PER_S / core_hz
    may_run: Levels = np.searchsorted(begin, until, "right") > np.searchsorted(begin, still_running)
    return may_run


_LAST = 3


def labels_cut_short(matched: pl.DataFrame) -> list[str]:
    """The labels whose last stimuli still came before the end of their operations.

    `matched` are the rows of match_stimuli(). A tick or the control may make one operation longer
    than its sweep, but not the last ones of a label.
    """
    within = col.phase_samples < col.wire_operation_samples
    last = within.sort_by("phase_samples").tail(_LAST).all()
    labels = matched.group_by("label", maintain_order=True).agg(short=last)
    return [str(label) for label in labels.filter("short")["label"]]


Allowed = Callable[[tuple[str, str], float | None], float | None]
"""How wrong a time in ns may be that lasts from an edge of one channel to an edge of another."""

_LATENCY, _SECTION = ("STIM", "ISR"), ("CRIT", "CRIT")


def summarise_sweep(plan: Plan, joined: Join, wire: Wire, allowed: Allowed) -> Json | None:
    """What run.json says of a sweep; None where there is none, or nothing could be matched."""
    matched = match_stimuli(plan, joined, wire.core_hz)
    if matched is None:
        return None
    matched = with_lead_and_tail(matched, wire)
    empty = matched.filter(~col.disturbed & (col.label == EMPTY))
    lead_ns: Any = empty["lead_ns"].max()
    return {
        "lead_ns": lead_ns,
        "lead_budget_ns": allowed(("STIM", "CRIT"), lead_ns),
        "curves": [
            _curve(rows, lead_ns, allowed) for rows in matched.partition_by("label", maintain_order=True)
        ],
    }


def sweep_disproven(sweep: Mapping[str, Any] | None) -> Reasons:
    """The curves whose longest wait is not the section and the entry."""
    for curve in sweep["curves"] if sweep else ():
        if curve["within_budget"] is False:
            apart_ns = curve["undisturbed_max_ns"] - curve["critical_ns"] - curve["entry_ns"]
            yield (
                f"At {curve['label']} the longest wait of the sweep is {apart_ns:+.1f} ns off its section "
                f"plus the entry ({curve['budgets_ns']['entry']:.1f} ns allowed): the way into the handler "
                "took other cycles than it usually does, so the sum is no proof there."
            )


def with_lead_and_tail(stimuli: pl.DataFrame, wire: Wire, column: str = "isr_latency_ns") -> pl.DataFrame:
    """`stimuli` with what each waited for beside a critical section that ended before its answer.

    `lead_ns` Float64 is from the stimulus to the section's begin, where the stimulus came before
    it. `tail_ns` Float64 is from the section's end to the answer, where it came within. Null
    otherwise.
    """
    critical, sample_ns = wire.critical, wire.edges.sample_ns
    since = stimuli["sample"].to_numpy()
    until = since + np.rint(stimuli[column].fill_null(0.0).to_numpy() / sample_ns).astype(np.int64)
    first = np.searchsorted(critical.end, since, "right")
    begin, end = (np.append(edges, _NEVER)[first] for edges in (critical.start, critical.end))
    over, before = end <= until, begin > since
    return stimuli.with_columns(
        lead_ns=pl.when(pl.Series(over & before)).then(pl.Series((begin - since) * sample_ns)),
        tail_ns=pl.when(pl.Series(over & ~before)).then(pl.Series((until - end) * sample_ns)),
    )


def _curve(matched: pl.DataFrame, lead_ns: float | None, allowed: Allowed) -> Json:
    undisturbed = matched.filter(~col.disturbed)
    worst = worst_row(undisturbed.drop_nulls("isr_latency_ns"), "isr_latency_ns")
    tail_ns: Any = undisturbed["tail_ns"].median()
    # What an interrupt waits for beside a critical section; None where a part is unknown.
    entry_ns = None if tail_ns is None or lead_ns is None else lead_ns + tail_ns
    latency_max_ns: Any = matched["isr_latency_ns"].max()
    budgets = {
        "latency_max": allowed(_LATENCY, latency_max_ns),
        "undisturbed_max": allowed(_LATENCY, worst.get("isr_latency_ns")),
        "critical": allowed(_SECTION, worst.get("wire_critical_ns")),
    }
    budgets["entry"] = entry_budget_ns = sum_of_terms(budgets["undisturbed_max"], budgets["critical"])
    # Whether the worst latency is its section plus the entry; None where one is unknown.
    within, critical_ns = None, worst.get("wire_critical_ns")
    if critical_ns is not None and entry_ns is not None and entry_budget_ns is not None:
        within = bool(abs(worst["isr_latency_ns"] - critical_ns - entry_ns) <= entry_budget_ns)
    return {
        "label": matched["label"][0],
        "depth": worst.get("depth"),
        "n": matched.height,
        "disturbed": matched.height - undisturbed.height,
        "latency_max_ns": latency_max_ns,
        "undisturbed_max_ns": worst.get("isr_latency_ns"),
        "critical_ns": critical_ns,
        "entry_ns": entry_ns,
        "seq": worst.get("seq"),
        "within_budget": within,
        "budgets_ns": budgets,
    }
