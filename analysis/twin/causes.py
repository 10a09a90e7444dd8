"""Where the cycles come from by which an operation differs: the same each time, or by its probes.

A line is fitted through probes and residual. The part of the residuals' variation that it takes
away is its share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.twin.residuals import Pair

_LEAST_SHARE = 0.05
_QUANTITY = "dwt_operation_cycles"


@dataclass(frozen=True)
class Causes:
    """Of the `undisturbed` operations, which no interrupt met; `differing` of all differ.
    `met_otherwise` counts those that other interrupts met on the board.

    `constant_cycles` is the difference where it is the same in all that are undisturbed;
    `cycles_per_probe` the slope of the line through the probes, and `share` what it takes away:
    None where that is little.
    """

    undisturbed: int
    met_otherwise: int
    differing: int
    constant_cycles: float | None
    cycles_per_probe: float | None
    share: float | None


def find(given: Pair) -> Causes:
    """What the difference in cycles is in proportion to."""
    ours, theirs = given.board.operations, given.twin.operations
    residual = (ours[_QUANTITY].cast(pl.Int64) - theirs[_QUANTITY].cast(pl.Int64)).to_numpy()
    hits = [(side["isr_hits"] + side["control_hits"]).to_numpy() for side in (ours, theirs)]
    free: npt.NDArray[np.bool_] = (hits[0] == 0) & (hits[1] == 0)
    apart = residual[free].astype(np.float64)
    constant = float(apart[0]) if len(apart) and np.ptp(apart) == 0 else None
    probes = theirs["probes"].fill_null(0).to_numpy()[free].astype(np.float64)
    slope, share = _fitted(probes, apart) if len(apart) > 1 and constant is None else (0.0, 0.0)
    in_proportion = share >= _LEAST_SHARE
    return Causes(
        undisturbed=len(apart),
        met_otherwise=int(np.count_nonzero(hits[0] != hits[1])),
        differing=int(np.count_nonzero(residual)),
        constant_cycles=constant,
        cycles_per_probe=slope if in_proportion else None,
        share=share if in_proportion else None,
    )


def _fitted(counts: npt.NDArray[np.float64], apart: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Slope and share of the line through both; none where nothing varies."""
    x, y = counts - counts.mean(), apart - apart.mean()
    spread = float(x @ x)
    if spread == 0:
        return 0.0, 0.0
    slope = float(x @ y) / spread
    return slope, slope * slope * spread / float(y @ y)
