"""Worst task latency against depth: the tail of a lock that only suspends the scheduler."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dashboards.figures.chart import Chart, make_chart, per_series
from dashboards.figures.depth_bands import at_depth, worst_by_depth
from dashboards.loaded.lock_effects import caveats, spares_interrupts
from dashboards.loaded.series import Series

COLUMN = "task_latency_ns"


def task_latency_by_depth(series: Sequence[Series]) -> Chart | None:
    """The worst STIM→TASK of each band of depths.

    None without depths, or if every lock masks interrupts.
    """
    if not any(spares_interrupts(one) for one in series):
        return None
    tables = [at_depth(one, one.run.answered.filter(pl.col(COLUMN).is_not_null())) for one in series]
    if (drawn := worst_by_depth(series, tables, COLUMN, "latency, stimulus to task (ns)")) is None:
        return None
    figure, _ = drawn
    counted = per_series(
        series, [len(table) for table in tables], "tasks woken during operations with a depth"
    )
    explanation = (
        "The time from the stimulus to the first instruction of the task that its interrupt wakes, with the "
        "answer and the switch of tasks in it. It grows with a critical section, whatever the lock. "
    ) + caveats(series)
    return make_chart("task", "Task latency against depth", series, counted, explanation, figure, height=460)
