"""Whether a timer's edges keep time on the wire, from the first to the last.

STIM and CTRL are moved by timers, whatever the firmware does. So
each edge must lie where its neighbours say. One sample too few,
too many or moved is a step in that line, and the step says where.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
import polars as pl

from base.run_folder.edges import Samples
from capture.reading.wire import Wire
from scenarios.stimulus import Stimulus

# How many edges are compared: few for a step among edges that agree, more where they beat.
NEIGHBOURS = (16, 64, 256)
# How far neighbours may lie apart: a sample where the clocks beat, and what they drift meanwhile;
# nothing where they do not.
APART_SAMPLES, TOGETHER_SAMPLES = 1.25, 0.5

# How far the timer may be from its own clock, which the frames tell: a wrong period is off by more.
RATE_TOLERANCE = 0.001

# How many ways through the draws are followed where none
# fits: more would take the square of the edges.
WAYS_MAX = 64

_WORD = 0xFFFF_FFFF
# firmware/bench/stimulus.c: where the random intervals begin.
_RANDOM_ORIGIN = 0x5DEE_CE66

Ticks = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """A channel's edges leave their line about `sample`:
    neighbours lie `apart_samples` apart there.
    """

    channel: str
    sample: int
    apart_samples: float


def steps(wire: Wire, stimulus: Stimulus) -> Iterator[Step]:
    """The first step of each channel that a timer moves; none where all keep time.

    A sweep's stimulus is started anew for each operation and has no line.
    """
    for channel in ("STIM", "CTRL"):
        edges = wire.edges_of(channel)
        due = _intervals(channel, edges, stimulus, wire.samples_per_cycle)
        if due is None or len(edges) < 2:
            continue
        if first_step := _first_step(edges, due, wire.samples_per_cycle):
            yield Step(channel, *first_step)


def _intervals(channel: str, edges: Samples, stimulus: Stimulus, samples_per_tick: float) -> Ticks | None:
    """The ticks that are due between each edge and the
    next, int64[edges - 1]; None where nobody knows.
    """
    count = max(len(edges) - 1, 0)
    if channel == "CTRL":
        return np.full(count, stimulus.control_period_ticks) if stimulus.control_period_ticks else None
    if stimulus.mode == "periodic":
        return np.full(count, stimulus.period_ticks)
    if stimulus.mode == "burst":
        pair = (stimulus.parameter, stimulus.period_ticks - stimulus.parameter)
        return np.resize(np.array(pair), count)
    if stimulus.mode == "random":
        return _drawn(np.diff(edges) / samples_per_tick, stimulus, 1.01 / samples_per_tick)
    return None


def _drawn(seen_ticks: npt.NDArray[np.float64], stimulus: Stimulus, slack_ticks: float) -> Ticks:
    """The firmware's draws, in their order. The interval under way comes again where the task that
    draws the next one was late. Two draws may be too alike to tell which of them was seen, so all
    ways through that fit are followed, and one that leads to the end is taken.
    """
    draws = list(islice(random_intervals(stimulus), len(seen_ticks) + 1))
    came_from: list[dict[int, int]] = []
    reached = {-1}
    for ticks in seen_ticks:
        ways = {at: before for before in sorted(reached) for at in (before, before + 1) if at >= 0}
        fitting = {at: before for at, before in ways.items() if abs(ticks - draws[at]) <= slack_ticks}
        # Where nothing fits there is a fault; what comes after it is told by the nearest.
        came_from.append(fitting or _nearest(ways, ticks, draws))
        reached = set(came_from[-1])
    numbers, at = [], min(reached, default=-1)
    for ways in reversed(came_from):
        numbers.append(at)
        at = ways[at]
    return np.array([draws[number] for number in reversed(numbers)], dtype=np.int64)


def _nearest(ways: dict[int, int], ticks: float, draws: list[int]) -> dict[int, int]:
    """The WAYS_MAX of `ways` whose draws are nearest to what was seen."""
    near = sorted(ways, key=lambda at: abs(ticks - draws[at]))[:WAYS_MAX]
    return {at: ways[at] for at in sorted(near)}


def random_intervals(stimulus: Stimulus) -> Iterator[int]:
    """xorshift32, scaled to an interval from half a period to less
    than one and a half, in ticks.
    """
    state = _RANDOM_ORIGIN ^ stimulus.parameter
    while True:
        state ^= state << 13 & _WORD
        state ^= state >> 17
        state ^= state << 5 & _WORD
        yield stimulus.period_ticks // 2 + (state * stimulus.period_ticks >> 32)


def _first_step(edges: Samples, due: Ticks, samples_per_tick: float) -> tuple[int, float] | None:
    """The sample of the first edge off the line through its neighbours, and how far they lie apart.

    Of a line that rises otherwise than the clocks do it is
    the first edge, and how far off the last is.

    An edge is seen at the first sample after it, so edges on one line lie less than a sample apart.
    Analyzers that run exactly at a multiple of the core's clock see them at no distance at all.
    """
    line = np.concatenate(([0], np.cumsum(due))).astype(np.float64)
    slope, intercept = np.polyfit(line - line.mean(), edges, 1)
    if abs(slope / samples_per_tick - 1) > RATE_TOLERANCE:
        return int(edges[0]), float(abs(edges[-1] - edges[0] - line[-1] * samples_per_tick))
    off = edges - (intercept + slope * (line - line.mean()))
    spread = {size: _spread(off, size) for size in NEIGHBOURS}
    narrowest = spread[NEIGHBOURS[0]]
    beating = np.count_nonzero(narrowest > TOGETHER_SAMPLES) > 2 * NEIGHBOURS[0]
    limit = APART_SAMPLES if beating else TOGETHER_SAMPLES
    for size, apart in spread.items():
        wide = np.flatnonzero(apart > limit)
        if wide.size:
            first = max(int(wide[0]) - size // 2, 0)
            here = off[first : first + 2 * size]
            at = first + int(np.argmax(np.abs(np.diff(here)))) + 1
            return int(edges[at]), float(apart[wide[0]])
    return None


def _spread(off: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.float64]:
    """How far the `size` edges around each edge lie apart, float64[edges]."""
    around = pl.Series(np.pad(off, (size // 2, (size - 1) // 2), mode="edge"))
    spread = around.rolling_max(size) - around.rolling_min(size)
    return spread[size - 1 :].to_numpy()
