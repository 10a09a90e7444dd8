"""What the markers cost: the wire's width of an empty section minus DWT's, in cycles; how far apart
the analyzer sees edges that left the chip together; and the analyzer's clock against the core's.

The frames compare the analyzer with a timer, for a millisecond each. The calibration records tell
what CYCCNT was at edges that the wire shows, at both ends of the run: a base a thousand times as
long. The two ratios must agree. If they do not, then timer, counter or analyzer counts another
clock than it should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from base.arrays import Floats
from base.metrology.quantiles import nearest_rank
from base.metrology.slope import centred, fit_slope
from base.run_folder.edges import MARKED_CHANNELS, Samples
from base.run_folder.records import CalibrationRecord, CostRecord, RecordLog
from capture.reading.vectorised import PulseTrain
from capture.reading.wire import COMMON_CHANNELS, SECTIONS_PER_END, Wire


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


def calibrate(wire: Wire, records: Sequence[CalibrationRecord], channel: str) -> MarkerCost | None:
    """The cost of the markers of `channel`.

    None unless all pulses of the start, and all their records, are there.
    """
    opening, closing = (_sections(wire, records, channel, number) for number in (0, 1))
    if opening is None:
        return None
    ends = [opening, closing] if closing else [opening]
    width, dwt = np.concatenate([(train.width, cycles) for train, cycles, _ in ends], axis=1)
    excess = width / wire.samples_per_cycle - dwt
    constant = round(float(excess.mean()))
    drift = excess[SECTIONS_PER_END:].mean() - excess[:SECTIONS_PER_END].mean() if closing else None
    return MarkerCost(
        channel=channel,
        pulses=len(dwt),
        wire_minus_dwt_cycles=constant,
        worst_residual_cycles=float(np.abs(excess - constant).max()),
        drift_cycles=None if drift is None else float(drift),
        empty_cycles=int(nearest_rank(np.sort(dwt), 50)),
        empty_samples=int(nearest_rank(np.sort(width), 50)),
    )


def cost_cycles(log: RecordLog, instrument: str) -> tuple[int, int] | None:
    """The least and the most that an instrument took; None where the records do not tell."""
    costs = [cost for cost in log.all(CostRecord) if cost.instrument == instrument]
    if not costs:
        return None
    return min(cost.least_cycles for cost in costs), max(cost.most_cycles for cost in costs)


def _sections(
    wire: Wire, records: Sequence[CalibrationRecord], channel: str, number: int
) -> tuple[PulseTrain, Samples, Samples] | None:
    """The empty sections at the start of the run, number 0, or its end, 1: their pulses, their
    cycles by DWT, and CYCCNT where each begins, 16 each. None unless every pulse has its record.
    """
    train = (wire.opening, wire.closing)[number].sections[channel]
    due = range(number * SECTIONS_PER_END, (number + 1) * SECTIONS_PER_END)
    of_end = [record for record in records if record.channel == channel and record.index in due]
    if len(train) != SECTIONS_PER_END or [record.index for record in of_end] != list(due):
        return None
    cycles = [(record.dwt_cycles, record.begin_cycles) for record in of_end]
    return train, *np.array(cycles, dtype=np.int64).T


# How far apart the analyzer sees edges that left the chip together.


@dataclass(frozen=True)
class Skew:
    """How much later the analyzer sees the second of two channels, in samples.

    `mean` is the best estimate. An edge is seen up to one sample late. So a difference d says that
    the skew lies between d - 1 and d + 1; `least` and `most` are what all differences together
    allow.
    """

    mean: float
    least: float
    most: float

    @property
    def bound(self) -> float:
        """How wrong an interval from the first channel to the second may be, in samples."""
        return max(abs(self.least), abs(self.most))


def skew_between(wire: Wire, first: str, second: str) -> Skew | None:
    """The skew of channel `second` against channel `first`.

    None unless both show all common pulses of the start, or all of the end.
    """
    ends = [end.common for end in (wire.opening, wire.closing) if end.has_common(first, second)]
    if not ends:
        return None
    rises = _of_one_kind(np.concatenate([end[second].start - end[first].start for end in ends]))
    falls = _of_one_kind(np.concatenate([end[second].end - end[first].end for end in ends]))
    return Skew(
        mean=(rises.mean + falls.mean) / 2,
        least=min(rises.least, falls.least),
        most=max(rises.most, falls.most),
    )


def _of_one_kind(differences: Samples) -> Skew:
    """The skew of the rising edges, or of the falling ones: int64[pulses]."""
    by_port_order = differences.reshape(-1, 2)
    return Skew(
        mean=float(by_port_order.mean()),
        least=float((by_port_order.max(axis=0) - 1).mean()),
        most=float((by_port_order.min(axis=0) + 1).mean()),
    )


def fall_delay_samples(wire: Wire, channel: str) -> float | None:
    """How much later the analyzer sees falling edges of `channel` than rising ones, in samples.

    A common pulse lasts equally long on all channels, and the edges of a frame are equally far
    apart. So a channel whose pulses are wider than the usual one's is late in falling, and all are
    if the frames' pulses are wider than their gaps. None unless all is there at one end.
    """
    ends = [end.common for end in (wire.opening, wire.closing) if end.has_common(*COMMON_CHANNELS)]
    frames = [frame for frame in (wire.start_frame, wire.end_frame) if frame is not None]
    if not ends or not frames or channel not in COMMON_CHANNELS:
        return None
    widths = {name: np.concatenate([end[name].width for end in ends]).mean() for name in COMMON_CHANNELS}
    gaps = np.concatenate([np.diff(frame)[:-1].reshape(-1, 2) for frame in frames])
    of_sync = float((gaps[:, 0] - gaps[:, 1]).mean()) / 2
    return float(widths[channel] - np.median(list(widths.values()))) + of_sync


COUNTER_CYCLES = 1 << 32
# Clocks of crystals differ by parts in 10,000. Counters that differ by more count something else.
RATIO_TOLERANCE = 0.05


@dataclass(frozen=True)
class CounterFit:
    """A straight line through the edges: CYCCNT was `origin_cycles` at sample `origin_sample`.

    `ratio` is the samples per cycle over the nominal ones, as in ClockFound. `ratio_uncertainty` is
    the most by which quantised edges may have changed it. `residual_max_samples` is the farthest
    that an edge lies from the line.
    """

    origin_sample: int
    origin_cycles: float
    samples_per_cycle: float
    ratio: float
    ratio_uncertainty: float
    residual_max_samples: float

    def cycles_at(self, samples: Samples) -> Floats:
        """CYCCNT at each of `samples`, float64[n], as if it never wrapped."""
        return self.origin_cycles + (samples - self.origin_sample) / self.samples_per_cycle


def fit_counter(
    wire: Wire, records: Sequence[CalibrationRecord], *, stood: bool = False
) -> CounterFit | None:
    """Fits samples to CYCCNT over the rising edges of all empty sections.

    Over those of the start alone if the counter `stood` in between. None unless all sections of the
    start, and all their records, are there, and the counter goes as fast as the wire says, to
    RATIO_TOLERANCE.
    """
    ends = [
        [_sections(wire, records, channel, number) for channel in MARKED_CHANNELS]
        for number in range(1 if stood else 2)
    ]
    if None in ends[0]:
        return None
    sections = [section for end in ends if None not in end for section in end if section]
    sample, counter = np.concatenate([(train.start, begin) for train, _, begin in sections], axis=1)
    # As if the counter had never wrapped. The samples tell how often it did: the clocks differ by
    # far less than one turn of it.
    since_sample, since_counter = sample - sample[0], counter - counter[0]
    turns = np.rint((since_sample / wire.samples_per_cycle - since_counter) / COUNTER_CYCLES)
    cycles = counter + turns.astype(np.int64) * COUNTER_CYCLES
    since_cycles = cycles - cycles[0]
    if not since_cycles.any():
        return None
    slope = fit_slope(centred(cycles), centred(sample))
    if abs(slope.value / wire.samples_per_cycle - 1) > RATIO_TOLERANCE:
        return None
    return CounterFit(
        origin_sample=int(sample[0]),
        origin_cycles=float(cycles[0] + since_cycles.mean() - since_sample.mean() / slope.value),
        samples_per_cycle=slope.value,
        ratio=slope.value / wire.samples_per_cycle_nominal,
        ratio_uncertainty=slope.uncertainty / wire.samples_per_cycle_nominal,
        residual_max_samples=slope.residual_max,
    )
