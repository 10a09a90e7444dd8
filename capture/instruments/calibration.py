"""What the markers themselves cost: the wire's width of an empty section minus DWT's, in cycles.

Each marker writes a pin and reads DWT_CYCCNT in one indivisible pair, so both witnesses see the same section
shifted by a constant. Begin and end are edges of the core clock: the constant is a whole number of cycles,
and the mean of the calibration pulses is rounded to it. They are sent at both ends of a run: a cost that
changed in between was never a constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.metrology.quantiles import nearest_rank
from capture.reading.wire import SECTIONS_PER_END, Wire
from capture.run_folder.records import CalibrationRecord


@dataclass(frozen=True)
class MarkerCost:
    """One channel's calibration.

    `wire_minus_dwt_cycles` is the whole number of cycles to take off a wire width, `worst_residual_cycles`
    the furthest that a pulse lies from it, `drift_cycles` its mean at the end of the run minus that at the
    start (None without the end). `empty_cycles` is DWT's own median of an empty section, `empty_samples` the
    wire's median width of it.
    """

    channel: str
    pulses: int
    wire_minus_dwt_cycles: int
    worst_residual_cycles: float
    drift_cycles: float | None
    empty_cycles: int
    empty_samples: int


def calibrate(wire: Wire, records: Iterable[CalibrationRecord], channel: str) -> MarkerCost | None:
    """The cost of `channel`'s markers; None unless pulses and records of the start are all there."""
    told = [record for record in records if record.channel == channel]
    opening = _pairs(wire.opening.sections[channel].width, told, 0)
    closing = _pairs(wire.closing.sections[channel].width, told, SECTIONS_PER_END)
    if opening is None:
        return None
    ends = [opening] if closing is None else [opening, closing]
    width, dwt = (np.concatenate(column) for column in zip(*ends, strict=True))
    excess = [end_width / wire.samples_per_cycle - end_dwt for end_width, end_dwt in ends]
    constant = round(float(np.concatenate(excess).mean()))
    return MarkerCost(
        channel=channel,
        pulses=len(dwt),
        wire_minus_dwt_cycles=constant,
        worst_residual_cycles=float(np.abs(np.concatenate(excess) - constant).max()),
        drift_cycles=None if closing is None else float(excess[1].mean() - excess[0].mean()),
        empty_cycles=int(nearest_rank(np.sort(dwt), 50)),
        empty_samples=int(nearest_rank(np.sort(width), 50)),
    )


def _pairs(
    width: npt.NDArray[np.int64], told: list[CalibrationRecord], first: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Widths in samples and DWT's cycles of one end; None unless every pulse has its record."""
    due = range(first, first + SECTIONS_PER_END)
    here = [record for record in told if record.index in due]
    if len(width) != SECTIONS_PER_END or [record.index for record in here] != list(due):
        return None
    return width, np.array([record.dwt_cycles for record in here], dtype=np.int64)
