"""The analyzer's clock against the core's cycle counter, over the whole length of a run.

The frames compare the analyzer with a timer, for a millisecond each. The calibration records tell
what CYCCNT was at edges that the wire shows, at both ends of the run: a base a thousand times as
long. The two ratios must agree. If they do not, then timer, counter or analyzer counts another
clock than it should.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from base.metrology.slope import fit_slope
from base.run_folder.edges import MARKED_CHANNELS
from base.run_folder.records import INTERNAL_CLOCK, Boot, CalibrationRecord
from capture.reading.wire import SECTIONS_PER_END, Calibration, Wire
from firmware.build.clock_trees import ClockTree

COUNTER_CYCLES = 1 << 32
# Clocks of crystals differ by parts in 10,000. Counters that differ by more count something else.
RATIO_TOLERANCE = 0.05


def core_tolerance(boot: Boot | None, tree: ClockTree) -> float:
    """By which part the core's clock may be off, by what feeds it; 0 of a crystal."""
    return tree.INTERNAL_TOLERANCE if boot is not None and boot.clock == INTERNAL_CLOCK else 0.0


@dataclass(frozen=True)
class CounterFit:
    """A straight line through the edges: CYCCNT was `origin_cycles` at sample `origin_sample`.

    `ratio` is the samples per cycle over the nominal ones, as in ClockFit. `ratio_uncertainty` is
    the most by which quantised edges may have changed it. `residual_max_samples` is the farthest
    that an edge lies from the line.
    """

    origin_sample: int
    origin_cycles: float
    samples_per_cycle: float
    ratio: float
    ratio_uncertainty: float
    residual_max_samples: float

    def cycles_at(self, samples: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """CYCCNT at each of `samples`, float64[n], as if it never wrapped."""
        since: npt.NDArray[np.float64] = (samples - self.origin_sample) / self.samples_per_cycle
        return self.origin_cycles + since


def fit_counter(
    wire: Wire, records: Iterable[CalibrationRecord], *, stood: bool = False
) -> CounterFit | None:
    """Fits samples to CYCCNT over the rising edges of all empty sections.

    Over those of the start alone if the counter `stood` in between. None unless all sections of the
    start, and all their records, are there, and the counter goes as fast as the wire says, to
    RATIO_TOLERANCE.
    """
    all_records = list(records)
    opening = _anchors(wire.opening, all_records, 0)
    closing = None if stood else _anchors(wire.closing, all_records, SECTIONS_PER_END)
    if opening is None:
        return None
    ends = [opening] if closing is None else [opening, closing]
    sample, counter = (np.concatenate(column) for column in zip(*ends, strict=True))
    cycles = _unwrapped(sample, counter, wire.samples_per_cycle)
    # Differences first: they are exact in a float64.
    since_sample, since_cycles = sample - sample[0], cycles - cycles[0]
    mean_sample, mean_cycles = since_sample.mean(), since_cycles.mean()
    if not since_cycles.any():
        return None
    samples_per_cycle = fit_slope(since_cycles - mean_cycles, since_sample - mean_sample)
    if abs(samples_per_cycle.value / wire.samples_per_cycle - 1) > RATIO_TOLERANCE:
        return None
    return CounterFit(
        origin_sample=int(sample[0]),
        origin_cycles=float(cycles[0] + mean_cycles - mean_sample / samples_per_cycle.value),
        samples_per_cycle=samples_per_cycle.value,
        ratio=samples_per_cycle.value / wire.samples_per_cycle_nominal,
        ratio_uncertainty=samples_per_cycle.uncertainty / wire.samples_per_cycle_nominal,
        residual_max_samples=samples_per_cycle.residual_max,
    )


def _anchors(
    end: Calibration, records: list[CalibrationRecord], first: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """The samples of one end's rising edges, and CYCCNT at each: int64[32] both.

    `first` is the index of that end's first record of a channel. None unless all are there.
    """
    samples, counters = [], []
    due = range(first, first + SECTIONS_PER_END)
    for channel in MARKED_CHANNELS:
        begins = [r.begin_cycles for r in records if r.channel == channel and r.index in due]
        if not len(end.sections[channel]) == len(begins) == SECTIONS_PER_END:
            return None
        samples.append(end.sections[channel].start)
        counters.append(np.array(begins, dtype=np.int64))
    return np.concatenate(samples), np.concatenate(counters)


def _unwrapped(
    sample: npt.NDArray[np.int64], counter: npt.NDArray[np.int64], samples_per_cycle: float
) -> npt.NDArray[np.int64]:
    """The counter as if it had never wrapped, int64[n].

    The samples tell how often it did: the clocks differ by far less than one turn of the counter.
    """
    expected = (sample - sample[0]) / samples_per_cycle
    turns = np.rint((expected - (counter - counter[0])) / COUNTER_CYCLES).astype(np.int64)
    unwrapped: npt.NDArray[np.int64] = counter + turns * COUNTER_CYCLES
    return unwrapped
