"""How long a more urgent task waits for the heap while another's critical section runs."""

from __future__ import annotations

from typing import Any

import polars as pl

from base.metrology.quantiles import summarise
from base.run_folder.quantities import TASK
from capture.joining.evidence import Evidence


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
