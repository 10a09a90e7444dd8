"""The frames of a run, and the ratio of the clocks that they show (docs/reference/wire.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from base.files.errors import CaptureError
from base.metrology.slope import centred, fit_slope
from base.run_folder.edges import EdgeList, Samples, Transitions

FRAME_EDGES = 64
START_FRAME_TICKS = 840
END_FRAME_TICKS = 1260
# Of the spacing of a frame's edges; one sample is added to it.
FRAME_TOLERANCE = 0.02


@dataclass(frozen=True, eq=False)
class Frames:
    """The samples of the edges of both frames, int64[64] each; None where there is no frame."""

    start: Samples | None
    end: Samples | None


@dataclass(frozen=True)
class ClockFit:
    """The analyzer's clock against the MCU's.

    `ratio` is the samples per tick over the nominal samples per tick. Above 1, the analyzer is fast
    or the MCU is slow. `residual_max_samples` is the farthest that an edge lies from the fit.
    `ratio_uncertainty` is the most by which quantised edges may have changed the ratio.
    """

    ratio: float
    residual_max_samples: float
    ratio_uncertainty: float


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
    begin = -1 if start is None else int(start[-1])
    ends = [
        train for train in trains(sync, END_FRAME_TICKS * samples_per_tick, tolerance) if train[0] > begin
    ]
    return Frames(start, ends[0] if ends else None)


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


def fit_clock(start: Samples | None, end: Samples | None, tick_hz: int, samplerate_hz: int) -> ClockFit:
    """Fits samples to ticks over the edges of both frames, or of the one that is there.

    The samples per tick are common to both frames. How many ticks lie between them is not known, so
    each frame has an offset of its own. Raises CaptureError where there is no frame.
    """
    given = [
        (centred(np.arange(FRAME_EDGES) * ticks), centred(edges))
        for ticks, edges in ((START_FRAME_TICKS, start), (END_FRAME_TICKS, end))
        if edges is not None
    ]
    if not given:
        raise CaptureError("The clocks cannot be compared: the capture has neither a start nor an end frame.")
    tick, sample = (np.concatenate(axis) for axis in zip(*given, strict=True))
    samples_per_tick = fit_slope(tick, sample)
    nominal = samplerate_hz / tick_hz
    return ClockFit(
        ratio=samples_per_tick.value / nominal,
        residual_max_samples=samples_per_tick.residual_max,
        ratio_uncertainty=samples_per_tick.uncertainty / nominal,
    )
