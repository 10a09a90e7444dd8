"""What the wire says of a run by itself: its frames, and the ratio of the clocks that they show
(docs/reference/wire.md); calibration pulses, and the operations' windows; and which pulses no
firmware sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from base.metrology.slope import centred, fit_slope
from base.run_folder.edges import (
    CHANNELS,
    MARKED_CHANNELS,
    NS_PER_S,
    EdgeList,
    Samples,
    Transitions,
    settled,
)
from base.run_folder.observed import ClockFound
from base.run_folder.records import CalibrationRecord, RecordLog
from capture.reading.vectorised import PulseTrain, Waits, Windows, pulses, waits_for

FRAME_EDGES = 64
START_FRAME_TICKS = 840
END_FRAME_TICKS = 1260
# Of the spacing of a frame's edges; one sample is added to it.
FRAME_TOLERANCE = 0.02


class Frames(NamedTuple):
    """The samples of the edges of both frames, int64[64] each; None where there is no frame."""

    start: Samples | None = None
    end: Samples | None = None


def find_frames(edges: EdgeList, tick_hz: int, tick_tolerance: float = 0.0) -> Frames:
    """The frames of the run, made of ticks of a clock of `tick_hz`, which may be off by a part.

    If the board was reset during the capture, there are several start frames. The run is what
    follows the last of them, up to the first end frame after it. Without a start frame, the first
    end frame counts.
    """
    samples_per_tick = edges.samplerate_hz / tick_hz
    tolerance = FRAME_TOLERANCE + tick_tolerance
    sync = edges.transitions("SYNC")
    starts = trains(sync, START_FRAME_TICKS * samples_per_tick, tolerance)
    start = starts[-1] if starts else None
    begin = edge_of(start, -1, -1)
    ends = (
        train for train in trains(sync, END_FRAME_TICKS * samples_per_tick, tolerance) if train[0] > begin
    )
    return Frames(start, next(ends, None))


def edge_of(frame: Samples | None, number: int, otherwise: int) -> int:
    """The sample of the edge of this number; `otherwise` where there is no frame."""
    return otherwise if frame is None else int(frame[number])


def trains(sync: Transitions, spacing_samples: float, part: float) -> list[Samples]:
    """Trains of exactly 64 SYNC edges, the first rising, `spacing_samples` apart but for `part`."""
    tolerance = part * spacing_samples + 1
    fits = np.abs(np.diff(sync.sample) - spacing_samples) <= tolerance
    borders = np.flatnonzero(np.diff(np.concatenate(([False], fits, [False])).astype(np.int8)))
    arrays = []
    for first, last in borders.reshape(-1, 2):
        if last - first == FRAME_EDGES - 1 and sync.level[first]:
            arrays.append(sync.sample[first : last + 1])
    return arrays


def fit_clock(
    start: Samples | None, end: Samples | None, tick_hz: int, samplerate_hz: int
) -> ClockFound | None:
    """Fits samples to ticks over the edges of both frames, or of the one that is there.

    The samples per tick are common to both frames. How many ticks lie between them is not known, so
    each frame has an offset of its own. None where there is no frame.
    """
    given = [
        (centred(np.arange(FRAME_EDGES) * ticks), centred(edges))
        for ticks, edges in ((START_FRAME_TICKS, start), (END_FRAME_TICKS, end))
        if edges is not None
    ]
    if not given:
        return None
    tick, sample = (np.concatenate(axis) for axis in zip(*given, strict=True))
    samples_per_tick = fit_slope(tick, sample)
    nominal = samplerate_hz / tick_hz
    return ClockFound(
        ratio=samples_per_tick.value / nominal,
        residual_max_samples=samples_per_tick.residual_max,
        ratio_uncertainty=samples_per_tick.uncertainty / nominal,
    )


# What the wire says of a run by itself: frames, calibration pulses, the operations' windows.


# At each end of a run (docs/reference/wire.md).
SECTIONS_PER_END = 16
COMMON_PULSES = 8
COMMON_CHANNELS = tuple(channel for channel in CHANNELS if channel != "SYNC")


class Calibration(NamedTuple):
    """The calibration pulses at one end of a run, by channel; where some are missing, the rest.

    `sections` are the empty sections, of MARKED_CHANNELS. `common` are the pulses that all of
    COMMON_CHANNELS show at once.
    """

    sections: dict[str, PulseTrain]
    common: dict[str, PulseTrain]

    def has_common(self, *channels: str) -> bool:
        """Whether each of the channels shows all common pulses of that end of the run."""
        return all(len(self.common[channel]) == COMMON_PULSES for channel in channels)


@dataclass(frozen=True)
class Wire:
    """One capture in the terms of docs/reference/wire.md.

    `start_frame` and `end_frame` are the samples of their edges, int64[64], or None where there is
    no frame. `opening` and `closing` are the calibrations beside them. `until_end` is the capture
    up to the last edge of the end frame: what follows is no stimulus and no answer. `windows` are
    those of the operations. Without an end frame the last window is left out, since it may not be
    whole. `critical` and `operation` are the pulses of CRIT and of OP, in the whole capture.
    """

    edges: EdgeList
    core_hz: int
    start_frame: Samples | None
    end_frame: Samples | None
    clock: ClockFound | None
    opening: Calibration
    closing: Calibration
    until_end: EdgeList
    windows: Windows
    critical: PulseTrain
    operation: PulseTrain
    core_tolerance: float = 0.0
    """By which part the core's clock may be off; 0 of a crystal, which is better than need be."""

    @property
    def first_sample(self) -> int:
        """Where the run begins: what comes before the start frame is no stimulus and no answer."""
        return edge_of(self.start_frame, 0, 0)

    def edges_of(self, channel: str) -> Samples:
        """The samples of the channel's edges between the frames, int64[n]."""
        return self._between(self.until_end.transitions(channel).sample)

    def rises_of(self, channel: str) -> Samples:
        """The same of its rising edges alone."""
        edges = self.until_end.transitions(channel)
        return self._between(edges.sample[edges.level])

    def waits(self, stimulus: str, answer: str) -> Waits:
        """The waits between the frames, from the edges of `stimulus` to the rises of `answer`."""
        return waits_for(self.until_end, stimulus, answer, self.first_sample)

    def _between(self, samples: Samples) -> Samples:
        return samples[samples >= self.first_sample]

    @property
    def samples_per_cycle_nominal(self) -> float:
        """Samples per cycle of the core, both clocks at their nominal rates."""
        return self.edges.samplerate_hz / self.core_hz

    @property
    def samples_per_cycle(self) -> float:
        """Samples per cycle of the core by the measured ratio of the clocks, if it was measured."""
        return self.samples_per_cycle_nominal * (self.clock.ratio if self.clock else 1.0)

    @property
    def agreement_samples(self) -> int:
        """How far the width of one pulse may be from what DWT counted, the clocks aside.

        A width is quantised at both edges, so it is known to one sample. At or above the core clock
        the marker cost is exact, since it is a whole number of cycles. Below the core clock it is
        known to one sample too, and the comparison to two.
        """
        return 1 if self.edges.samplerate_hz >= self.core_hz else 2

    @property
    def undecided_samples(self) -> int:
        """Edges of two channels that are no further apart may have come in the other order.

        An edge that is off by nearly `agreement_samples` to one side may be moved by twice as much
        to the other before DWT contradicts.
        """
        return 2 * self.agreement_samples

    def ns_of(self, cycles: float) -> float:
        """How long `cycles` of the core last, at its nominal rate."""
        return cycles * NS_PER_S / self.core_hz


def read_wire(edges: EdgeList, core_hz: int, core_tolerance: float = 0.0) -> Wire:
    """Finds frames, calibration pulses and windows in a capture, whatever is missing in it.

    At the start come common pulses, start frame and sections; at the end, end frame, sections and
    common pulses.

    `core_hz` is the core's clock as the firmware told it, or as its board has it, off by the part
    `core_tolerance` at most.
    """
    frames = find_frames(edges, core_hz, core_tolerance)
    start, end = frames.start, frames.end
    sync = edges.transitions("SYNC").sample
    begin, until = edge_of(start, -1, edges.total_samples), edge_of(end, 0, edges.total_samples)
    toggles = sync[(sync > begin) & (sync < until)]
    # The sections of the start lie between the start frame and the first operation. Common pulses
    # of an earlier reset may precede those of this run.
    sections_end = int(toggles[0]) if len(toggles) else until
    behind = edge_of(end, -1, edges.total_samples)
    trains = {channel: pulses(edges, channel) for channel in COMMON_CHANNELS}
    closing = {name: train.starting_within(behind, edges.total_samples) for name, train in trains.items()}
    operation = trains["OP"]
    # The end frame closes the last; but after an odd number of operations SYNC's last edge only
    # brings it low.
    if end is not None and len(toggles) and len(operation.starting_within(int(toggles[-1]), until)):
        windows = Windows(toggles, np.append(toggles[1:], until))
    else:
        windows = Windows(toggles[:-1], toggles[1:])
    return Wire(
        edges=edges,
        core_hz=core_hz,
        start_frame=start,
        end_frame=end,
        clock=None if start is None else fit_clock(start, end, core_hz, edges.samplerate_hz),
        opening=Calibration(
            sections={name: trains[name].starting_within(begin, sections_end) for name in MARKED_CHANNELS},
            common={
                name: train.starting_within(0, edge_of(start, 0, 0))[-COMMON_PULSES:]
                for name, train in trains.items()
            },
        ),
        closing=Calibration(
            sections={name: closing[name][:SECTIONS_PER_END] for name in MARKED_CHANNELS},
            common={
                name: train[SECTIONS_PER_END if name in MARKED_CHANNELS else 0 :]
                for name, train in closing.items()
            },
        ),
        until_end=edges if end is None else edges.until(int(end[-1]) + 1),
        windows=windows,
        critical=trains["CRIT"],
        operation=operation,
        core_tolerance=core_tolerance,
    )


# Pulses that no firmware sent: shorter than half of its shortest (docs/reference/glitches.md).
#
# The shortest pulse of a run is an empty section of its calibration, and DWT tells its length. What
# is seen to last no longer than half of it is a glitch, high or low. It can be left out where it
# stands alone: two edges go, and the level between them is that beside them. Where short pulses
# follow each other, an edge of the firmware may be among them, and nobody knows which; they stay.


@dataclass(frozen=True)
class Glitches:
    """How many of at most `longest_samples` were left out, by channel; those without are not named.

    0 samples where no record or sample tells what is one.
    """

    longest_samples: int
    count: Mapping[str, int]


def without_glitches(edges: EdgeList, log: RecordLog, core_hz: int) -> tuple[EdgeList, Glitches]:
    """The capture without those that stand alone, and how many they were."""
    shortest_cycles = min((record.dwt_cycles for record in log.all(CalibrationRecord)), default=0)
    longest = shortest_cycles * edges.samplerate_hz // (2 * core_hz)
    word, count = edges.word.copy(), {}
    for bit, channel in enumerate(edges.channels if longest else ()):
        sample = edges.transitions(channel).sample
        short = np.diff(sample) <= longest
        beside = np.concatenate(([False], short, [False]))
        first = np.flatnonzero(short & ~beside[:-2] & ~beside[2:])
        if first.size:
            count[channel] = int(first.size)
        turned = np.isin(edges.sample, sample[np.append(first, first + 1)]).astype(np.uint8)
        word ^= np.bitwise_xor.accumulate(turned) << bit
    left = EdgeList(*settled(edges.sample, word), edges.samplerate_hz, edges.total_samples, edges.channels)
    return left, Glitches(longest, count)
