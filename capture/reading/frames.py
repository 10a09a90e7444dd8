"""The frames of a run, and the ratio of the clocks that they show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.files.errors import CaptureError
from capture.run_folder.edges import EdgeList, Samples

FRAME_EDGES = 64
START_FRAME_TICKS = 840
END_FRAME_TICKS = 1260
FRAME_TOLERANCE = 0.02


@dataclass(frozen=True, eq=False)
class Frames:
    """The samples of the 64 edges of the start and the end frame, int64[64]; None where there is none."""

    start: Samples | None
    end: Samples | None


@dataclass(frozen=True)
class ClockFit:
    """The analyzer's clock against the MCU's.

    `ratio` is samples per tick over the nominal samples per tick: above 1, the analyzer is fast or the MCU
    slow. `residual_max_samples` is the farthest that an edge lies from the fit, `ratio_uncertainty` the most
    by which quantised edges may have turned it.
    """

    ratio: float
    residual_max_samples: float
    ratio_uncertainty: float


def frames(edges: EdgeList, tick_hz: int, samplerate_hz: int) -> Frames:
    """The frames of docs/SPEC.md, section 2.

    Where a board was reset while it was captured there are several start frames: the run is what follows the
    last one, up to the first end frame after it. Without a start frame, the first end frame is given.
    """
    starts = _runs(edges, START_FRAME_TICKS * samplerate_hz / tick_hz)
    start = starts[-1] if starts else None
    begin = -1 if start is None else int(start[-1])
    ends = [run for run in _runs(edges, END_FRAME_TICKS * samplerate_hz / tick_hz) if run[0] > begin]
    return Frames(start, ends[0] if ends else None)


def _runs(edges: EdgeList, spacing_samples: float) -> list[Samples]:
    """All runs of exactly 64 SYNC edges, the first rising, that are `spacing_samples` apart."""
    sync = edges.transitions("SYNC")
    tolerance = FRAME_TOLERANCE * spacing_samples + 1
    fits = np.abs(np.diff(sync.sample) - spacing_samples) <= tolerance
    borders = np.flatnonzero(np.diff(np.concatenate(([False], fits, [False])).astype(np.int8)))
    found = []
    for first, last in borders.reshape(-1, 2):
        if last - first == FRAME_EDGES - 1 and sync.level[first]:
            found.append(sync.sample[first : last + 1])
    return found


def fit_clock(start: Samples | None, end: Samples | None, tick_hz: int, samplerate_hz: int) -> ClockFit:
    """Least squares over the edges of both frames, or of the one that is there.

    How many ticks lie between the frames is not known, so each has an offset of its own; the samples per tick
    are common to both. Raises CaptureError when there is no frame at all.
    """
    given = [
        _centred(np.arange(FRAME_EDGES) * ticks, edges)
        for ticks, edges in ((START_FRAME_TICKS, start), (END_FRAME_TICKS, end))
        if edges is not None
    ]
    if not given:
        raise CaptureError("The clocks cannot be compared: the capture has neither a start nor an end frame.")
    tick, sample = (np.concatenate(axis) for axis in zip(*given, strict=True))
    samples_per_tick = float(tick @ sample / (tick @ tick))
    residual = float(np.abs(sample - samples_per_tick * tick).max())
    nominal = samplerate_hz / tick_hz
    return ClockFit(samples_per_tick / nominal, residual, slope_uncertainty(tick, residual) / nominal)


def slope_uncertainty(centred: npt.NDArray[np.float64], residual: float) -> float:
    """The most by which errors of half a sample, or of `residual` if that is more, can turn a fit of samples
    over `centred`, in samples per unit of it.

    Least squares weighs the error of each point by its distance from the middle: the worst is that all errors
    pull the same way.
    """
    return max(0.5, residual) * float(np.abs(centred).sum() / (centred @ centred))


def _centred(tick: Samples, sample: Samples) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Both about their means, so that the offset drops out. Differences first: they are exact in a double."""
    since_first = sample - sample[0]
    return tick - tick.mean(), since_first - since_first.mean()
