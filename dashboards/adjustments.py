"""What a report may do to all samples of a run before it shows them, and then says that it did.

Nothing is done unless asked for. An adjusted run keeps its folder, its verdict and its exact capture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from analysis.metrology.intervals import percentile_intervals
from analysis.metrology.quantiles import summarise
from dashboards.certainty import Interval
from dashboards.manifest import Summary
from dashboards.quantities import ALL, samples
from dashboards.runs import LoadedRun


@dataclass(frozen=True)
class Adjustments:
    """`subtract_baseline` takes each quantity's own baseline off all of its samples and statistics alike.
    `without_ticks` sets aside the answers that the kernel's tick may have delayed.
    """

    subtract_baseline: bool = False
    without_ticks: bool = False


AS_MEASURED = Adjustments()
SUBTRACTED = (
    "From every value and statistic the run's own baseline is subtracted: an empty section, an idle answer."
)


def adjusted(run: LoadedRun, adjustments: Adjustments) -> LoadedRun:
    """`run` with what `adjustments` ask for, and a note of each thing that was done."""
    if adjustments.without_ticks:
        run = _without_ticks(run)
    if adjustments.subtract_baseline:
        run = _less_baseline(run)
    return run


def _without_ticks(run: LoadedRun) -> LoadedRun:
    """The stimuli stay in the table, unanswered: what was set aside is counted, not lost."""
    table = run.interrupts
    if table["tick"].null_count() == len(table) > 0:
        return _noted(run, "This run does not tell what a tick may have delayed, so nothing is left out.")
    touched = table.select(
        answers=(pl.col("tick") & pl.col("isr_latency_ns").is_not_null()).sum(),
        wakes=(pl.col("task_tick") & pl.col("task_latency_ns").is_not_null()).sum(),
    ).row(0)
    kept = table.with_columns(
        isr_latency_ns=pl.when(~pl.col("tick")).then("isr_latency_ns"),
        task_latency_ns=pl.when(~pl.col("task_tick")).then("task_latency_ns"),
    )
    counted = (
        f"{touched[0]:,} answers and {touched[1]:,} task wakes that a tick may have delayed are left out"
    )
    return _summarised_again(_noted(replace(run, interrupts=kept), counted + "."))


def _summarised_again(run: LoadedRun) -> LoadedRun:
    """Statistics and intervals of the interrupts as they are now in the table."""
    latencies = [
        quantity
        for quantity in ALL
        if quantity.key.endswith("latency_ns") or quantity.source in ("hit", "clear")
    ]
    columns = {quantity.key: samples(run, quantity)[quantity.column].to_numpy() for quantity in latencies}
    summaries = {key: Summary.of(summarise(values)) for key, values in columns.items()}
    certainty = run.manifest.certainty
    again = (
        {} if certainty.refused else {key: _present(percentile_intervals(v)) for key, v in columns.items()}
    )
    manifest = replace(
        run.manifest,
        summaries={**run.manifest.summaries, **summaries},
        certainty=replace(certainty, intervals={**certainty.intervals, **again}),
    )
    return replace(run, manifest=manifest)


def _present(intervals: Mapping[str, Interval | None]) -> dict[str, Interval]:
    return {name: interval for name, interval in intervals.items() if interval is not None}


def _less_baseline(run: LoadedRun) -> LoadedRun:
    certainty, baselines = run.manifest.certainty, run.manifest.certainty.baselines
    if not baselines:
        return _noted(run, "This run tells no baseline, so nothing is subtracted.")
    summaries = {key: summary.less(baselines.get(key, 0)) for key, summary in run.manifest.summaries.items()}
    intervals = {
        key: {
            name: (low - baselines.get(key, 0), high - baselines.get(key, 0))
            for name, (low, high) in of.items()
        }
        for key, of in certainty.intervals.items()
    }
    # The baseline is known no better than the value it is taken off, and it holds all of the overhead.
    budgets = {key: total * (2 if baselines.get(key) else 1) for key, total in certainty.budgets.items()}
    sure = replace(certainty, intervals=intervals, budgets=budgets, overheads={})
    manifest = replace(run.manifest, summaries=summaries, certainty=sure)
    less = replace(
        run,
        manifest=manifest,
        operations=_operations_less(run, baselines),
        interrupts=_interrupts_less(run, baselines),
    )
    return _noted(less, SUBTRACTED)


def _operations_less(run: LoadedRun, baselines: Mapping[str, float]) -> pl.DataFrame:
    """Allocations and frees have the same markers around them, so one baseline serves all operations."""
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
    return replace(run, notes=(*run.notes, note), treatment=(*run.treatment, note))
