"""The decoding of long captures for statistics, by the same rules as the sigrok decoders beside this file.

All positions are samples, int64, counted from 0 at the start of the capture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.files.errors import CaptureError
from capture.run_folder.edges import EdgeList, Levels, Samples

FRAME_EDGES = 64
START_FRAME_TICKS = 840
END_FRAME_TICKS = 1260
FRAME_TOLERANCE = 0.02


@dataclass(frozen=True, eq=False)
class Pulses:
    """The complete high pulses of a channel: `start` (rising edge) and `end` (falling edge), int64[n].

    A pulse cut off by an end of the capture has no width and is told apart: `open_head_end` is where a pulse
    that was high at sample 0 ends, `open_tail_start` where one begins that is high at the last sample (0 when
    the channel is high throughout).
    """

    start: Samples
    end: Samples
    open_head_end: int | None
    open_tail_start: int | None


@dataclass(frozen=True, eq=False)
class Responses:
    """One row per stimulus: `stimulus_sample` and `answer_sample` (-1: none) int64[n], `missed` bool[n].

    `missed` says that the next stimulus came before any answer. The last stimulus may have neither: the
    capture ended first.
    """

    stimulus_sample: Samples
    answer_sample: Samples
    missed: Levels


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


def pulses(edges: EdgeList, channel: str) -> Pulses:
    """The high pulses of `channel`."""
    transitions = edges.transitions(channel)
    rises = transitions.sample[transitions.level]
    falls = transitions.sample[~transitions.level]
    open_head_end = open_tail_start = None
    if edges.initial_level(channel):
        rises = np.concatenate((np.zeros(1, np.int64), rises))
    if rises.size > falls.size:
        open_tail_start = int(rises[-1])
        rises = rises[:-1]
    if edges.initial_level(channel) and falls.size:
        open_head_end = int(falls[0])
        rises, falls = rises[1:], falls[1:]
    return Pulses(rises, falls, open_head_end, open_tail_start)


def responses(edges: EdgeList, stimulus: str, answer: str) -> Responses:
    """Every edge of `stimulus` with the first rising edge of `answer` that belongs to it.

    A cause precedes its effect: an answer comes at a later sample than its stimulus, and one at the very
    sample of the next stimulus still belongs to the earlier.
    """
    asked = edges.transitions(stimulus).sample
    transitions = edges.transitions(answer)
    rises = transitions.sample[transitions.level]
    after_last = np.iinfo(np.int64).max
    next_asked = np.append(asked[1:], after_last)
    next_rise = np.append(rises, after_last)[np.searchsorted(rises, asked, side="right")]
    answered = (next_rise <= next_asked) & (next_rise != after_last)
    missed = ~answered & (next_asked != after_last)
    return Responses(asked, np.where(answered, next_rise, -1), missed)


def level_at(edges: EdgeList, channel: str, samples: Samples) -> Levels:
    """The level of `channel` at each of `samples`, bool[n]; at the sample of an edge, the new level."""
    if samples.size and not (samples.min() >= 0 and samples.max() < edges.total_samples):
        raise CaptureError(f"A sample lies outside the capture's 0 … {edges.total_samples - 1}.")
    transitions = edges.transitions(channel)
    level = np.concatenate(([edges.initial_level(channel)], transitions.level))
    found: Levels = level[np.searchsorted(transitions.sample, samples, side="right")]
    return found


def high_within(edges: EdgeList, channel: str, first: Samples, last: Samples) -> Levels:
    """Whether `channel` was high at some sample from `first` up to and including `last`, bool[n].

    Where `last` lies before `first` (an answer that never came, -1) only the sample `first` counts.
    """
    transitions = edges.transitions(channel)
    rises = transitions.sample[transitions.level]
    until = np.maximum(first, last)
    rises_until: Levels = np.searchsorted(rises, until, side="right") > np.searchsorted(
        rises, first, side="right"
    )
    return level_at(edges, channel, first) | rises_until


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
