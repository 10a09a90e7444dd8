"""What a report may do to all samples of a run before it shows them. It then says what it did.

Nothing is done unless asked for. An adjusted run keeps its folder, its verdict and its capture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
import polars as pl

from base.metrology.quantiles import percentile_intervals, summarise
from base.run_folder.manifest import ErrorBudget, Intervals, Term
from dashboards.caveats import SUBTRACTED
from dashboards.loaded.quantities import ALL, samples
from dashboards.loaded.runs import LoadedRun


@dataclass(frozen=True)
class Adjustments:
    """`subtract_baseline`: take each quantity's baseline off its samples and statistics.

    `without_ticks`: set aside the answers that the kernel's tick may have delayed.
    """

    subtract_baseline: bool = False
    without_ticks: bool = False


AS_MEASURED = Adjustments()


def adjusted(run: LoadedRun, adjustments: Adjustments) -> LoadedRun:
    """`run` as `adjustments` ask, with a note of each thing that was done."""
    if adjustments.without_ticks:
        run = _without_ticks(run)
    if adjustments.subtract_baseline:
        run = _less_baseline(run)
    return run


def _without_ticks(run: LoadedRun) -> LoadedRun:
    """The stimuli stay in the table, unanswered, so that what was set aside can be counted."""
    table = run.interrupts
    if table["tick"].null_count() == len(table) > 0:
        return _noted(run, "This run does not tell what a tick may have delayed, so nothing is left out.")
    touched = table.select(
        answers=(pl.col("tick") & pl.col("isr_latency_ns").is_not_null()).sum(),
        wakes=(pl.col("task_tick") & pl.col("task_latency_ns").is_not_null()).sum(),
    ).row(0)
    answered = table.with_columns(
        isr_latency_ns=pl.when(~pl.col("tick")).then("isr_latency_ns"),
        task_latency_ns=pl.when(~pl.col("task_tick")).then("task_latency_ns"),
    )
    counted = (
        f"{touched[0]:,} answers and {touched[1]:,} task wakes that a tick may have delayed are left out"
    )
    set_aside = replace(run, replaced={**run.replaced, "interrupts": answered})
    return _summarised_again(_noted(set_aside, counted + "."))


def _summarised_again(run: LoadedRun) -> LoadedRun:
    """Statistics and intervals of the interrupts as they are now in the table."""
    latencies = [quantity for quantity in ALL if quantity.table == "interrupts"]
    columns = {quantity.key: samples(run, quantity)[quantity.column].to_numpy() for quantity in latencies}
    statistics = {key: summarise(values) for key, values in columns.items()}
    intervals = run.manifest.intervals
    again = {} if intervals.refused else {key: _intervals(values) for key, values in columns.items()}
    return _with_parts(
        run,
        {
            **statistics,
            "intervals": intervals.model_copy(update={"of": {**intervals.of, **again}}),
        },
    )


def _intervals(values: npt.NDArray[Any]) -> Intervals:
    return Intervals.model_validate(percentile_intervals(values))


def _with_parts(run: LoadedRun, parts: Mapping[str, object]) -> LoadedRun:
    """The run with these parts of run.json in place of its own."""
    return replace(run, manifest=run.manifest.model_copy(update=parts))


def _less_baseline(run: LoadedRun) -> LoadedRun:
    baselines = run.certainty.baselines
    if not baselines:
        return _noted(run, "This run tells no baseline, so nothing is subtracted.")
    manifest = run.manifest
    statistics = {key: summary.less(baselines.get(key, 0)) for key, summary in manifest.statistics.items()}
    of = {key: _shifted(intervals, baselines.get(key, 0)) for key, intervals in manifest.intervals.of.items()}
    budgets = {
        key: _doubled(error_budget, key in baselines) for key, error_budget in manifest.error_budget.items()
    }
    parts = {
        **statistics,
        "intervals": manifest.intervals.model_copy(update={"of": of}),
        "error_budget": budgets,
    }
    less = replace(
        _with_parts(run, parts),
        replaced={
            "operations": _operations_less(run, baselines),
            "interrupts": _interrupts_less(run, baselines),
        },
    )
    return _noted(less, SUBTRACTED)


def _shifted(intervals: Intervals, baseline: float) -> Intervals:
    ends = {name: (low - baseline, high - baseline) for name, (low, high) in intervals.known.items()}
    return intervals.model_copy(update=ends)


def _doubled(budget: ErrorBudget, subtracted: bool) -> ErrorBudget:
    """The baseline is known no better than the value, so errors add; the overhead goes with it."""
    times = 2 if subtracted else 1
    total = {
        name: None if value is None else times * value for name, value in budget.total.model_dump().items()
    }
    return budget.model_copy(update={"total": Term(**total), "overhead": Term(ns=None, cycles=None)})


def _operations_less(run: LoadedRun, baselines: Mapping[str, float]) -> pl.DataFrame:
    """Allocations and frees have the same markers around them: one baseline serves both."""
    return run.operations.with_columns(
        wire_critical_ns=pl.col("wire_critical_ns") - baselines.get("critical_ns", 0),
        dwt_cycles=pl.col("dwt_cycles").cast(pl.Int64) - int(baselines.get("dwt_cycles", 0)),
    )


def _interrupts_less(run: LoadedRun, baselines: Mapping[str, float]) -> pl.DataFrame:
    idle = pl.when("control").then(baselines.get("control_latency_ns", 0.0))
    return run.interrupts.with_columns(
        isr_latency_ns=pl.col("isr_latency_ns") - idle.otherwise(baselines.get("interrupt_latency_ns", 0.0)),
        task_latency_ns=pl.col("task_latency_ns") - baselines.get("task_latency_ns", 0.0),
    )


def _noted(run: LoadedRun, note: str) -> LoadedRun:
    return replace(run, notes=(*run.notes, note), adjustments=(*run.adjustments, note))
