"""What the markers themselves cost: the wire's width of an empty section minus DWT's, in cycles.

Each marker writes a pin and reads DWT_CYCCNT in one indivisible pair, so both witnesses see the same section
shifted by a constant. Begin and end are edges of the core clock: the constant is a whole number of cycles,
and the mean of the calibration pulses is rounded to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.records import CalibrationRecord
from capture.statistics import nearest_rank
from capture.wire import Wire

PULSES_PER_CHANNEL = 16


@dataclass(frozen=True)
class MarkerCost:
    """One channel's calibration.

    `wire_minus_dwt_cycles` is the whole number of cycles to take off a wire width, `worst_residual_cycles`
    the furthest that a pulse lies from it, `empty_cycles` DWT's own median of an empty section.
    """

    channel: str
    pulses: int
    wire_minus_dwt_cycles: int
    worst_residual_cycles: float
    empty_cycles: int


def calibrate(wire: Wire, records: Iterable[CalibrationRecord], channel: str) -> MarkerCost | None:
    """The cost of `channel`'s markers; None unless all calibration pulses and all their records are there."""
    dwt = np.array([record.dwt_cycles for record in records if record.channel == channel], dtype=np.int64)
    width = wire.calibration[channel].width
    if len(dwt) != PULSES_PER_CHANNEL or len(width) != PULSES_PER_CHANNEL:
        return None
    excess: npt.NDArray[np.float64] = width / wire.samples_per_cycle - dwt
    constant = round(float(excess.mean()))
    return MarkerCost(
        channel=channel,
        pulses=len(dwt),
        wire_minus_dwt_cycles=constant,
        worst_residual_cycles=float(np.abs(excess - constant).max()),
        empty_cycles=int(nearest_rank(np.sort(dwt), 50)),
    )
