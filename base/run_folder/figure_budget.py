"""Between which values the truth of a published figure lies, by what its own run states.

A reader holds a figure of one run against that of another, or against what is known of the board.
Both differ for certain only where they lie outside of these ends.
"""

from __future__ import annotations

import math

from ..metrology.ranks import PERCENTILES
from .manifest import Manifest
from .quantities import Quantity

Ends = tuple[float, float]
ANYWHERE: Ends = (-math.inf, math.inf)


def ends_of_statistic(run: Manifest, quantity: Quantity, name: str, otherwise: float = 0.0) -> Ends | None:
    """The ends of statistic `name`, in its unit; None where the run does not have it.

    Each sample may be off by the budget's total; `otherwise` holds where the run states none. A
    deviation is the length of a vector by the root of n - 1, so n errors may add to that. A
    percentile may be off by one rank as well. Where it is not known which samples belong, both ends
    count.
    """
    value, budget = getattr(run.statistics[quantity.key], name), run.error_budget[quantity.key]
    if value is None:
        return None
    low = high = float(value)
    if budget.undecided is not None and name != "open":
        reached = getattr(budget.undecided, name)
        if reached is None:
            return ANYWHERE
        low, high = min(low, reached[0]), max(high, reached[1])
    within = _within(run, quantity, name, otherwise)
    return low - within, high + within


def _within(run: Manifest, quantity: Quantity, name: str, otherwise: float) -> float:
    """The error of the statistic if the right samples are in it."""
    n, budget = run.statistics[quantity.key].n, run.error_budget[quantity.key]
    own = budget.total.of(quantity.unit)
    total = otherwise if own is None else own
    if name in ("n", "open"):
        return 0.0
    if name in PERCENTILES:
        return total + (budget.rank.ns or 0.0)
    return total * math.sqrt(n / (n - 1)) if name == "stdev" and n > 1 else total
