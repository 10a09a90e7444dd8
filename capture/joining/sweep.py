"""A swept stimulus: each operation met once, a little later every time (docs/SPEC.md, section 5, `sweep`).

The stimuli of a sweep and the operations that asked for them are as many, and in the same order; where they
are not, nothing is matched.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from capture.joining.join import Join
from capture.reading.wire import NS_PER_S, PulseTrain, Wire
from scenarios.plan import Plan
from scenarios.stimulus import CONTROL_CYCLES

EMPTY = "empty"
_NEVER = np.iinfo(np.int64).max


def asked(plan: Plan) -> pl.DataFrame:
    """The operations of `plan` that ask for a stimulus, in order."""
    return plan.operations.filter(pl.col("offset") > 0)


def met(plan: Plan, joined: Join, core_hz: int) -> pl.DataFrame | None:
    """One row per stimulus: the columns of `interrupts`, those of the operation that asked for it, and two.

    `phase_samples` Int64: from the rise of OP to the stimulus (negative before it); `disturbed` Boolean: a
    tick or a control interrupt may have had a part in the latency. None where stimuli and operations differ
    in number. `core_hz` is the clock of the run.
    """
    operations, interrupts = joined.operations, joined.interrupts
    swept = operations.filter(pl.col("seq").is_in(asked(plan)["seq"].implode())).sort("seq")
    stimuli = interrupts.filter(~pl.col("control")).sort("sample")
    if plan.stimulus.mode != "sweep" or swept.height != stimuli.height or swept.is_empty():
        return None
    both = pl.concat([stimuli, swept], how="horizontal")
    return both.with_columns(
        phase_samples=pl.col("sample") - pl.col("start_sample"),
        disturbed=pl.col("tick").fill_null(True) | pl.Series(_beside_control(stimuli, interrupts, core_hz)),
    )


def _beside_control(
    stimuli: pl.DataFrame, interrupts: pl.DataFrame, core_hz: int
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether a control interrupt ran at some time from each stimulus to its answer, bool[n]."""
    control = interrupts.filter("control").drop_nulls("isr_latency_ns").sort("sample")
    begin = (control["time_ns"] + control["isr_latency_ns"]).to_numpy()
    since = stimuli["time_ns"].to_numpy()
    until = since + stimuli["isr_latency_ns"].fill_null(0.0).to_numpy()
    earliest = since - CONTROL_CYCLES * NS_PER_S / core_hz
    beside: np.ndarray[Any, np.dtype[np.bool_]] = np.searchsorted(begin, until, "right") > np.searchsorted(
        begin, earliest
    )
    return beside


def curves(plan: Plan, joined: Join, wire: Wire, allowed_ns: float | None) -> dict[str, Any] | None:
    """What run.json says of a sweep; None where there is none, or nothing to match.

    `allowed_ns` is what the budgets of latency and section leave open.
    """
    table = met(plan, joined, wire.core_hz)
    if table is None:
        return None
    sample_ns = NS_PER_S / wire.edges.samplerate_hz
    undisturbed = _beside_section(table.filter(~pl.col("disturbed")), wire.critical, sample_ns)
    lead_ns = _greatest(undisturbed.filter(pl.col("label") == EMPTY), "lead_ns")
    return {
        "lead_ns": lead_ns,
        "allowed_ns": allowed_ns,
        "curves": [
            _curve(label, table, undisturbed, lead_ns, allowed_ns)
            for label in table["label"].unique(maintain_order=True)
        ],
    }


def _beside_section(stimuli: pl.DataFrame, critical: PulseTrain, sample_ns: float) -> pl.DataFrame:
    """With what each stimulus waited for beside a critical section that ended before the answer, Float64.

    `lead_ns`: from the stimulus to the section's begin, where it came before. `tail_ns`: from the section's
    end to the answer, where it came within. Null otherwise.
    """
    since = stimuli["sample"].to_numpy()
    until = since + np.rint(stimuli["isr_latency_ns"].fill_null(0.0).to_numpy() / sample_ns).astype(np.int64)
    first = np.searchsorted(critical.end, since, "right")
    begin, end = (np.append(edges, _NEVER)[first] for edges in (critical.start, critical.end))
    over, before = end <= until, begin > since
    return stimuli.with_columns(
        lead_ns=pl.when(pl.Series(over & before)).then(pl.Series((begin - since) * sample_ns)),
        tail_ns=pl.when(pl.Series(over & ~before)).then(pl.Series((until - end) * sample_ns)),
    )


def _curve(
    label: str | None,
    table: pl.DataFrame,
    undisturbed: pl.DataFrame,
    lead_ns: float | None,
    allowed_ns: float | None,
) -> dict[str, Any]:
    of_label = pl.col("label").eq_missing(pl.lit(label, dtype=pl.String))
    table, undisturbed = table.filter(of_label), undisturbed.filter(of_label)
    worst = undisturbed.sort("isr_latency_ns", descending=True, maintain_order=True).head(1)
    found = worst.row(0, named=True) if worst.height else {}
    critical_ns, worst_ns = found.get("wire_critical_ns"), found.get("isr_latency_ns")
    tail_ns = undisturbed["tail_ns"].median()
    entry_ns = lead_ns + tail_ns if isinstance(tail_ns, float) and lead_ns is not None else None
    fits = None
    if critical_ns is not None and entry_ns is not None and allowed_ns is not None:
        fits = abs(worst_ns - critical_ns - entry_ns) <= allowed_ns
    return {
        "label": label,
        "depth": found.get("depth"),
        "n": table.height,
        "disturbed": table.height - undisturbed.height,
        "latency_max_ns": _greatest(table, "isr_latency_ns"),
        "undisturbed_max_ns": worst_ns,
        "critical_ns": critical_ns,
        "entry_ns": entry_ns,
        "seq": found.get("seq"),
        "within_budget": fits,
    }


def _greatest(table: pl.DataFrame, column: str) -> float | None:
    greatest = table[column].max()
    return float(greatest) if isinstance(greatest, float) else None


def short_of_the_end(table: pl.DataFrame) -> list[str]:
    """The labels whose last stimulus still came before the end of the operation."""
    last = table.group_by("label", maintain_order=True).agg(pl.all().sort_by("phase_samples").last())
    short = last.filter(pl.col("phase_samples") < pl.col("wire_operation_samples"))
    return [str(label) for label in short["label"]]
