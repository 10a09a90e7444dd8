"""How far apart the analyzer sees edges that left the chip together.

The common pulses drive all channels but SYNC by one store for each port, in alternating order: what lies
between the two stores has the opposite sign in every other pulse and drops out of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.reading.wire import COMMON_PULSES, Calibration, Wire


@dataclass(frozen=True)
class Skew:
    """How much later the analyzer sees the second of two channels, in samples.

    `mean` is the best estimate. An edge is seen up to one sample late, so a difference d says that the skew
    lies between d - 1 and d + 1; `least` and `most` are what all differences allow together.
    """

    mean: float
    least: float
    most: float

    @property
    def bound(self) -> float:
        """The most by which an interval from the first channel to the second may be wrong, in samples."""
        return max(abs(self.least), abs(self.most))


def skew_between(wire: Wire, first: str, second: str) -> Skew | None:
    """The skew of `second` against `first`; None unless both show all pulses of the start or of the end."""
    ends = [end for end in (wire.opening, wire.closing) if whole(end, first) and whole(end, second)]
    if not ends:
        return None
    apart = np.concatenate([_differences(end, first, second) for end in ends])
    orders = (apart[0::2], apart[1::2])
    return Skew(
        mean=float(np.mean([order.mean() for order in orders])),
        least=float(np.mean([order.max() - 1 for order in orders])),
        most=float(np.mean([order.min() + 1 for order in orders])),
    )


def whole(end: Calibration, channel: str) -> bool:
    """Whether all common pulses of `channel` are there."""
    return len(end.common[channel].start) == COMMON_PULSES


def _differences(end: Calibration, first: str, second: str) -> npt.NDArray[np.int64]:
    """Rising and falling edges, second minus first: int64[pulses, 2]."""
    one, other = end.common[first], end.common[second]
    return np.stack([other.start - one.start, other.end - one.end], axis=1)
