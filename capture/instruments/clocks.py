"""The analyzer's clock against the core's own cycle counter, over the whole length of a run.

The frames are a timer's, apart from DWT, and last a millisecond each. The calibration records tell CYCCNT at
edges that the wire shows, at both ends: a base a thousand times as long. The two ratios must agree, or one of
timer, counter and analyzer does not count what it is believed to count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.reading.vectorised import slope_uncertainty
from capture.reading.wire import SECTIONS_PER_END, Calibration, Wire
from capture.run_folder.records import CalibrationRecord

COUNTER_CYCLES = 1 << 32


@dataclass(frozen=True)
class CounterFit:
    """A straight line through the edges: CYCCNT was `origin_cycles` at sample `origin_sample`.

    `ratio` is samples per cycle over the nominal ones, as of the frames; `ratio_uncertainty` the most by
    which quantised edges may have turned the line; `residual_max_samples` is the farthest that an edge lies
    from it.
    """

    origin_sample: int
    origin_cycles: float
    samples_per_cycle: float
    ratio: float
    ratio_uncertainty: float
    residual_max_samples: float

    def cycles_at(self, samples: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """CYCCNT at `samples`, float64[n], counted on where the counter wraps."""
        since: npt.NDArray[np.float64] = (samples - self.origin_sample) / self.samples_per_cycle
        return self.origin_cycles + since


def fit_counter(wire: Wire, records: Iterable[CalibrationRecord]) -> CounterFit | None:
    """Least squares over the rising edges of all sections; None unless those of the start are all there."""
    told = list(records)
    opening = _anchors(wire.opening, told, 0)
    closing = _anchors(wire.closing, told, SECTIONS_PER_END)
    if opening is None:
        return None
    ends = [opening] if closing is None else [opening, closing]
    sample, counter = (np.concatenate(column) for column in zip(*ends, strict=True))
    cycles = _unwrapped(sample, counter, wire.samples_per_cycle)
    since_sample, since_cycles = sample - sample[0], cycles - cycles[0]
    x, y = since_cycles - since_cycles.mean(), since_sample - since_sample.mean()
    slope = float(x @ y / (x @ x))
    residual = float(np.abs(y - slope * x).max())
    return CounterFit(
        origin_sample=int(sample[0]),
        origin_cycles=float(cycles[0] + since_cycles.mean() - since_sample.mean() / slope),
        samples_per_cycle=slope,
        ratio=slope / wire.samples_per_cycle_nominal,
        ratio_uncertainty=slope_uncertainty(x, residual) / wire.samples_per_cycle_nominal,
        residual_max_samples=residual,
    )


def _anchors(
    end: Calibration, told: list[CalibrationRecord], first: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Samples of one end's rising edges and CYCCNT at each; None unless all are there."""
    samples, counters = [], []
    for channel in ("CRIT", "OP"):
        due = range(first, first + SECTIONS_PER_END)
        here = [r.begin_cycles for r in told if r.channel == channel and r.index in due]
        if not len(end.sections[channel].start) == len(here) == SECTIONS_PER_END:
            return None
        samples.append(end.sections[channel].start)
        counters.append(np.array(here, dtype=np.int64))
    return np.concatenate(samples), np.concatenate(counters)


def _unwrapped(
    sample: npt.NDArray[np.int64], counter: npt.NDArray[np.int64], samples_per_cycle: float
) -> npt.NDArray[np.int64]:
    """The counter as if it had never wrapped; its own clock and the analyzer's are alike enough to tell."""
    expected = (sample - sample[0]) / samples_per_cycle
    turns = np.rint((expected - (counter - counter[0])) / COUNTER_CYCLES).astype(np.int64)
    unwrapped: npt.NDArray[np.int64] = counter + turns * COUNTER_CYCLES
    return unwrapped
