"""What the wire says of a run, before any record is looked at: frames, calibration and operation windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.reading import vectorised
from capture.run_folder.edges import EdgeList
from scenarios.stimulus import NOMINAL_CORE_HZ

Samples = npt.NDArray[np.int64]

NS_PER_S = 1_000_000_000

# At each end of a run (docs/SPEC.md, section 2).
SECTIONS_PER_END = 16
COMMON_PULSES = 8
COMMON_CHANNELS = ("CRIT", "OP", "STIM", "ISR", "TASK", "CTRL", "CISR")


@dataclass(frozen=True)
class PulseTrain:
    """Complete pulses of one channel: int64[n] samples of their rising and falling edges."""

    start: Samples
    end: Samples

    @property
    def width(self) -> Samples:
        """Widths in samples, int64[n]."""
        return self.end - self.start

    def between(self, first: int, last: int) -> PulseTrain:
        """The pulses that start at `first` or later and before `last`."""
        inside = (self.start >= first) & (self.start < last)
        return PulseTrain(self.start[inside], self.end[inside])

    def numbers(self, first: int | None, last: int | None) -> PulseTrain:
        """The pulses from number `first` up to but not including `last`, as a slice counts them."""
        return PulseTrain(self.start[first:last], self.end[first:last])

    def indices(self, windows: Windows) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """For each window, the half-open range of the pulses that start in it: two intp[windows]."""
        return np.searchsorted(self.start, windows.start), np.searchsorted(self.start, windows.end)

    def widths_in(self, windows: Windows) -> Samples:
        """For each window, the sum of the widths of the pulses that start in it: int64[windows]."""
        total = np.concatenate(([0], np.cumsum(self.width)))
        first, last = self.indices(windows)
        widths: Samples = total[last] - total[first]
        return widths


@dataclass(frozen=True)
class Windows:
    """The operations' windows on SYNC: window `seq` is [start[seq], end[seq]), samples, int64[n]."""

    start: Samples
    end: Samples

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class Calibration:
    """The calibration pulses of one end of a run, by channel: of empty sections on CRIT and OP, and those
    that all channels but SYNC have in common. Where pulses are missing, what is there.
    """

    sections: dict[str, PulseTrain]
    common: dict[str, PulseTrain]


@dataclass(frozen=True)
class Wire:
    """One capture in the terms of docs/SPEC.md, section 2.

    `start_frame` and `end_frame` are the samples of their 64 edges, or None where there is no frame;
    `opening` and `closing` are the calibrations beside them. `run` is the capture up to the last edge of the
    end frame: what follows is no stimulus and no answer. `operations` are the windows that are closed:
    without an end frame the last one is left out, since nothing proves that it is whole.
    """

    edges: EdgeList
    core_hz: int
    start_frame: Samples | None
    end_frame: Samples | None
    clock: vectorised.ClockFit | None
    opening: Calibration
    closing: Calibration
    run: EdgeList
    operations: Windows
    critical: PulseTrain
    operation: PulseTrain

    @property
    def begin(self) -> int:
        """The first sample of the run; what comes before the start frame is no stimulus and no answer."""
        return 0 if self.start_frame is None else int(self.start_frame[0])

    @property
    def samples_per_cycle_nominal(self) -> float:
        """Samples of the analyzer per cycle of the core, both clocks taken at their word."""
        return self.edges.samplerate_hz / self.core_hz

    @property
    def samples_per_cycle(self) -> float:
        """The same with the measured ratio of the two clocks, where it could be measured."""
        return self.samples_per_cycle_nominal * (self.clock.ratio if self.clock else 1.0)


def read_wire(edges: EdgeList, core_hz: int | None) -> Wire:
    """Finds frames, calibration pulses and windows; `core_hz` as the firmware reports it, or None."""
    core_hz = core_hz or NOMINAL_CORE_HZ
    start, end = _frames(edges, core_hz)
    windows, calibration_span = _windows(edges, start, end)
    critical, operation = _pulses(edges, "CRIT"), _pulses(edges, "OP")
    return Wire(
        edges=edges,
        core_hz=core_hz,
        start_frame=start,
        end_frame=end,
        clock=None if start is None else vectorised.fit_clock(start, end, core_hz, edges.samplerate_hz),
        opening=_opening(edges, start, calibration_span),
        closing=_closing(edges, end),
        run=edges if end is None else edges.until(int(end[-1]) + 1),
        operations=_without_closing_window(windows, operation, end),
        critical=critical,
        operation=operation,
    )


def _frames(edges: EdgeList, core_hz: int) -> tuple[Samples | None, Samples | None]:
    found = vectorised.frames(edges, core_hz, edges.samplerate_hz)
    return found.start, found.end


def _pulses(edges: EdgeList, channel: str) -> PulseTrain:
    found = vectorised.pulses(edges, channel)
    return PulseTrain(found.start, found.end)


def _opening(edges: EdgeList, start_frame: Samples | None, span: tuple[int, int]) -> Calibration:
    """Common pulses, start frame, sections. Before this run's pulses may lie those of an earlier reset."""
    begin = 0 if start_frame is None else int(start_frame[0])
    pulses = {channel: _pulses(edges, channel) for channel in COMMON_CHANNELS}
    return Calibration(
        sections={channel: pulses[channel].between(*span) for channel in ("CRIT", "OP")},
        common={
            channel: train.between(0, begin).numbers(-COMMON_PULSES, None)
            for channel, train in pulses.items()
        },
    )


def _closing(edges: EdgeList, end_frame: Samples | None) -> Calibration:
    """End frame, sections, common pulses."""
    begin = edges.total_samples if end_frame is None else int(end_frame[-1])
    after = {
        channel: _pulses(edges, channel).between(begin, edges.total_samples) for channel in COMMON_CHANNELS
    }
    sections = {channel: after[channel].numbers(None, SECTIONS_PER_END) for channel in ("CRIT", "OP")}
    return Calibration(
        sections,
        {
            channel: train.numbers(SECTIONS_PER_END if channel in sections else None, None)
            for channel, train in after.items()
        },
    )


def _windows(
    edges: EdgeList, start_frame: Samples | None, end_frame: Samples | None
) -> tuple[Windows, tuple[int, int]]:
    """The windows between the frames, and the span of samples in which the calibration pulses lie."""
    if start_frame is None:
        nothing = np.empty(0, dtype=np.int64)
        return Windows(nothing, nothing), (0, 0)
    limit = edges.total_samples if end_frame is None else int(end_frame[0])
    toggles = edges.transitions("SYNC").sample
    toggles = toggles[(toggles > start_frame[-1]) & (toggles < limit)]
    borders = toggles if end_frame is None else np.append(toggles, limit)
    calibration_end = int(toggles[0]) if len(toggles) else limit
    return Windows(borders[:-1], borders[1:]), (int(start_frame[-1]), calibration_end)


def _without_closing_window(windows: Windows, operation: PulseTrain, end_frame: Samples | None) -> Windows:
    """Leaves out what follows the edge that brings SYNC low after an odd number of operations."""
    if end_frame is None or not len(windows):
        return windows
    if len(operation.between(int(windows.start[-1]), int(windows.end[-1])).start):
        return windows
    return Windows(windows.start[:-1], windows.end[:-1])
