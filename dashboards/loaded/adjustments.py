"""What a report may do to all samples of a run before it shows them. It then says what it did.

Nothing is done unless asked for. An adjusted run keeps its folder, its verdict and its capture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    answers, wakes = table.select(
        answers=(pl.col("tick") & pl.col("isr_latency_ns").is_not_null()).sum(),
        wakes=(pl.col("task_tick") & pl.col("task_latency_ns").is_not_null()).sum(),
    ).row(0)
    answered = table.with_columns(
        isr_latency_ns=pl.when(~pl.col("tick")).then("isr_latency_ns"),
        task_latency_ns=pl.when(~pl.col("task_tick")).then("task_latency_ns"),
    )
    words = f"{answers:,} answers and {wakes:,} task wakes that a tick may have delayed are left out."
    run = _noted(replace(run, replaced={**run.replaced, "interrupts": answered}), words)
    # Statistics and intervals of the interrupts as they are now in the table.
    latencies = [quantity for quantity in ALL if quantity.table == "interrupts"]
    columns = {quantity.key: samples(run, quantity)[quantity.column].to_numpy() for quantity in latencies}
    intervals = run.manifest.intervals
    again = {
        key: Intervals.model_validate(percentile_intervals(values))
        for key, values in columns.items()
        if not intervals.refused
    }
    parts = {key: summarise(values) for key, values in columns.items()}
    of = {"intervals": intervals.model_copy(update={"of": {**intervals.of, **again}})}
    return replace(run, manifest=run.manifest.model_copy(update={**parts, **of}))


def _less_baseline(run: LoadedRun) -> LoadedRun:
    """Allocations and frees have the same markers around them: one baseline serves both."""
    baselines, manifest = run.baselines, run.manifest
    if not baselines:
        return _noted(run, "This run tells no baseline, so nothing is subtracted.")

    def less(column: str, key: str) -> pl.Expr:
        return pl.col(column) - baselines.get(key, 0.0)

    operations = run.operations.with_columns(
        less("wire_critical_ns", "critical_ns"),
        dwt_cycles=pl.col("dwt_cycles").cast(pl.Int64) - int(baselines.get("dwt_cycles", 0)),
    )
    interrupts = run.interrupts.with_columns(
        less("task_latency_ns", "task_latency_ns"),
        isr_latency_ns=pl.when("control")
        .then(less("isr_latency_ns", "control_latency_ns"))
        .otherwise(less("isr_latency_ns", "interrupt_latency_ns")),
    )
    of = {
        key: intervals.model_copy(
            update={
                name: (low - baselines.get(key, 0), high - baselines.get(key, 0))
                for name, (low, high) in intervals.known.items()
            }
        )
        for key, intervals in manifest.intervals.of.items()
    }
    parts = {
        **{key: summary.less(baselines.get(key, 0)) for key, summary in manifest.statistics.items()},
        "intervals": manifest.intervals.model_copy(update={"of": of}),
        "error_budget": {
            key: _doubled(error_budget, 2 if key in baselines else 1)
            for key, error_budget in manifest.error_budget.items()
        },
    }
    changed = manifest.model_copy(update=parts)
    tables = {"operations": operations, "interrupts": interrupts}
    return _noted(replace(run, manifest=changed, replaced=tables), SUBTRACTED)


def _doubled(budget: ErrorBudget, times: int) -> ErrorBudget:
    """The baseline is known no better than the value, so errors add; the overhead goes with it."""
    total = {
        name: None if value is None else times * value for name, value in budget.total.model_dump().items()
    }
    return budget.model_copy(update={"total": Term(**total), "overhead": Term(ns=None, cycles=None)})


def _noted(run: LoadedRun, note: str) -> LoadedRun:
    return replace(run, notes=(*run.notes, note), adjustments=(*run.adjustments, note))
