"""What run.json says of a quantity beside its statistics: maximum, intervals, baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from base.metrology.intervals import percentile_intervals
from base.metrology.membership import reach
from base.metrology.quantiles import nearest_rank
from base.metrology.series import LAGS, ljung_box
from base.metrology.summaries import CONFIDENCE
from base.run_folder.quantities import Quantity, by_quantity
from capture.instruments.calibration import MarkerCost

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
    intervals_by_quantity = {} if ramp else by_quantity(samples, lambda q, rows: _intervals(rows[q.column]))
    return {"confidence": CONFIDENCE, "refused": RAMP if ramp else None, "of": intervals_by_quantity}


def _intervals(values: pl.Series) -> dict[str, Any]:
    samples = values.to_numpy()
    independence = ljung_box(samples).p if len(samples) > LAGS else None
    return {**percentile_intervals(samples), "independence_p": independence}


def baseline(
    quantity: Quantity, interrupts: pl.DataFrame, cost: MarkerCost | None, sample_ns: float
) -> dict[str, Any] | None:
    """The baseline: its `value` in the unit of the quantity, and the `n` it is the median of.

    It is what a quantity shows where there is nothing to measure. A report may subtract it, from
    every statistic of the quantity or from none.

    Of a section it is an empty one between the same markers. Of a latency it is that of stimuli
    which fell outside all operations, where the processor does nothing but wait, and which no tick
    touched. `ends` is what it can be with those that may have met one. None where there is none to
    subtract: probes have none.
    """
    if quantity.table == "interrupts":
        return _idle_latency(quantity, interrupts)
    if cost is None or quantity.counted:
        return None
    value = cost.empty_cycles if quantity.interval is None else cost.empty_samples * sample_ns
    return {"value": value, "n": cost.pulses, "ends": None}


def _idle_latency(quantity: Quantity, interrupts: pl.DataFrame) -> dict[str, Any] | None:
    control = quantity.interval is not None and quantity.interval[0] == "CTRL"
    tick = "task_tick" if quantity.column == "task_latency_ns" else "tick"
    calm = interrupts.filter((pl.col("control") == control) & ~pl.col(tick)).drop_nulls(quantity.column)
    ordered = np.sort(calm.filter(_IDLE)[quantity.column].to_numpy())
    if not len(ordered):
        return None
    sure, perhaps = (calm.filter(rows)[quantity.column] for rows in (_IDLE & ~_PERHAPS_IDLE, _PERHAPS_IDLE))
    reached = reach(sure, perhaps)
    return {
        "value": nearest_rank(ordered, 50),
        "n": len(ordered),
        "ends": reached.median if reached else None,
    }


_IDLE = pl.col("hit") == "none"
_PERHAPS_IDLE = (
    pl.when(_IDLE)
    .then(~pl.col("critical_sure") | ~pl.col("operation_sure"))
    .when(pl.col("hit") == "operation")
    .then(~pl.col("operation_sure"))
    .otherwise(~pl.col("critical_sure") & ~pl.col("operation_sure"))
)
