"""What a quantity shows when there is nothing to measure: an empty section, or an interrupt that nothing
holds up.

A report may subtract it, from every statistic of the quantity alike or from none.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from analysis.metrology.quantiles import summarise
from capture.instruments.calibration import MarkerCost
from capture.run_folder.quantities import Quantity


def baseline(
    quantity: Quantity, interrupts: pl.DataFrame, cost: MarkerCost | None, sample_ns: float
) -> dict[str, Any] | None:
    """`value` in the quantity's unit and the `n` it is the median of; None where there is nothing to
    subtract.

    For a section: an empty one between the same markers. For a latency: those of stimuli that fell outside
    all operations, where the processor does nothing but wait, and that no tick touched.
    """
    if quantity.table == "interrupts":
        return _idle(quantity, interrupts)
    if cost is None or quantity.column == "probes":
        return None
    on_wire = quantity.interval is not None
    return {"value": cost.empty_samples * sample_ns if on_wire else cost.empty_cycles, "n": cost.pulses}


def _idle(quantity: Quantity, interrupts: pl.DataFrame) -> dict[str, Any] | None:
    control = quantity.interval is not None and quantity.interval[0] == "CTRL"
    tick = "task_tick" if quantity.column == "task_latency_ns" else "tick"
    calm = interrupts.filter((pl.col("control") == control) & (pl.col("hit") == "none") & ~pl.col(tick))
    found = summarise(calm[quantity.column].drop_nulls().to_numpy())
    return {"value": found.median, "n": found.n} if found.n else None
