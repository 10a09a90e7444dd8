"""What the wire says of a run, before any record is looked at: frames, calibration and operation windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.edges import EdgeList
from decoders import vectorised

Samples = npt.NDArray[np.int64]

NOMINAL_CORE_HZ = 84_000_000


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
class Wire:
    """One capture in the terms of docs/SPEC.md, section 2.

    `start_frame` and `end_frame` are the samples of their 64 edges, or None where there is no frame.
    `operations` are the windows that are closed: without an end frame the last one is left out, since
    nothing proves that it is whole.
    """

    edges: EdgeList
    core_hz: int
    start_frame: Samples | None
    end_frame: Samples | None
    clock: vectorised.ClockFit | None
    calibration: dict[str, PulseTrain]
    operations: Windows
    critical: PulseTrain
    operation: PulseTrain

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
        calibration={
            "CRIT": critical.between(*calibration_span),
            "OP": operation.between(*calibration_span),
        },
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
