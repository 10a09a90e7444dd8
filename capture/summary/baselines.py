"""What a quantity shows where there is nothing to measure.

That is an empty section, or an interrupt that nothing holds up. A report may subtract it, from
every statistic of the quantity or from none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from base.metrology.quantiles import nearest_rank
from base.run_folder.quantities import Quantity
from capture.instruments.calibration import MarkerCost


def baseline(
    quantity: Quantity, interrupts: pl.DataFrame, cost: MarkerCost | None, sample_ns: float
) -> dict[str, Any] | None:
    """The baseline: its `value` in the unit of the quantity, and the `n` it is the median of.

    Of a section it is an empty one between the same markers. Of a latency it is that of stimuli
    which fell outside all operations, where the processor does nothing but wait, and which no tick
    touched. None where there is none to subtract: probes have none.
    """
    if quantity.table == "interrupts":
        return _idle_latency(quantity, interrupts)
    if cost is None or quantity.counted:
        return None
    on_wire = quantity.interval is not None
    return {"value": cost.empty_samples * sample_ns if on_wire else cost.empty_cycles, "n": cost.pulses}


def _idle_latency(quantity: Quantity, interrupts: pl.DataFrame) -> dict[str, Any] | None:
    control = quantity.interval is not None and quantity.interval[0] == "CTRL"
    tick = "task_tick" if quantity.column == "task_latency_ns" else "tick"
    calm = interrupts.filter((pl.col("control") == control) & (pl.col("hit") == "none") & ~pl.col(tick))
    ordered = np.sort(calm[quantity.column].drop_nulls().to_numpy())
    return {"value": nearest_rank(ordered, 50), "n": len(ordered)} if len(ordered) else None
