"""What the markers cost: the wire's width of an empty section minus DWT's, in cycles.

Each marker writes a pin and reads DWT_CYCCNT in one indivisible pair. So wire and DWT see the same
section, shifted by a constant. Both markers act on edges of the core clock, so the constant is a
whole number of cycles: the mean of the calibration pulses is rounded to it. The pulses come at both
ends of a run. A cost that changed in between was no constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from base.metrology.quantiles import nearest_rank
from base.run_folder.records import CalibrationRecord
from capture.reading.wire import SECTIONS_PER_END, Wire


@dataclass(frozen=True)
class MarkerCost:
    """The calibration of one channel's markers.

    `wire_minus_dwt_cycles` is what to take off a width on the wire. `worst_residual_cycles` is the
    farthest that a pulse lies from it. `drift_cycles` is the mean at the end of the run minus the
    mean at its start; None where the end was not calibrated. `empty_cycles` is the median of an
    empty section by DWT, `empty_samples` its median on the wire.
    """

    channel: str
    pulses: int
    wire_minus_dwt_cycles: int
    worst_residual_cycles: float
    drift_cycles: float | None
    empty_cycles: int
    empty_samples: int


def calibrate(wire: Wire, records: Iterable[CalibrationRecord], channel: str) -> MarkerCost | None:
    """The cost of the markers of `channel`.

    None unless all pulses of the start, and all their records, are there.
    """
    of_channel = [record for record in records if record.channel == channel]
    opening = _widths(wire.opening.sections[channel].width, of_channel, 0)
    closing = _widths(wire.closing.sections[channel].width, of_channel, SECTIONS_PER_END)
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


def _widths(
    width: npt.NDArray[np.int64], records: list[CalibrationRecord], first: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """The widths at one end of the run: on the wire in samples, by DWT in cycles, int64[16] each.

    `first` is the index of that end's first record. None unless every pulse has its record.
    """
    due = range(first, first + SECTIONS_PER_END)
    of_end = [record for record in records if record.index in due]
    if len(width) != SECTIONS_PER_END or [record.index for record in of_end] != list(due):
        return None
    return width, np.array([record.dwt_cycles for record in of_end], dtype=np.int64)
