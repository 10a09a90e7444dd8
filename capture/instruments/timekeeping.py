"""Whether a timer's edges keep time on the wire, from the first to the last.

STIM and CTRL are moved by timers, whatever the firmware does. So each edge must lie where its neighbours
say. One sample too few, too many or moved is a step in that line, and the step says where.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from capture.reading.wire import Wire
from scenarios.stimulus import Stimulus

# The clocks of analyzer and core drift apart, by less than a sample over so many edges.
NEIGHBOURS = 16
# By how much neighbours may lie farther apart than they usually do, in samples. A step is a whole sample.
SLACK_SAMPLES = 0.75

_WORD = 0xFFFF_FFFF
# firmware/bench/stimulus.c: where the random intervals begin.
_RANDOM_ORIGIN = 0x5DEE_CE66

Samples = npt.NDArray[np.int64]
Ticks = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """Where a channel's edges leave their line: at `sample`, by `off_samples`."""

    channel: str
    sample: int
    off_samples: float


def steps(wire: Wire, stimulus: Stimulus) -> Iterator[Step]:
    """The first step of each channel that a timer moves; none where all keep time.

    A sweep's stimulus is started anew for each operation and has no line.
    """
    for channel in ("STIM", "CTRL"):
        edges = wire.run.transitions(channel).sample
        edges = edges[edges >= wire.begin]
        due = _intervals(channel, edges, stimulus, wire.samples_per_cycle)
        if due is not None and len(edges) > 1:
            found = _first_step(edges, due, wire.samples_per_cycle)
            if found is not None:
                yield Step(channel, *found)


def _intervals(
    channel: str, edges: Samples, stimulus: Stimulus, samples_per_tick: float
) -> Ticks | None:
    """The ticks that are due between each edge and the next, int64[edges - 1]; None where nobody knows."""
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
    """The firmware's draws, in their order. The interval under way comes again where the task that draws
    the next one was late. Two draws may be too alike to tell which of them was seen, so all ways through
    that fit are followed, and one that leads to the end is taken.
    """
    draws = list(islice(random_intervals(stimulus), len(seen_ticks) + 1))
    came_from: list[dict[int, int]] = []
    reached = {-1}
    for ticks in seen_ticks:
        ways = {at: before for before in sorted(reached) for at in (before, before + 1) if at >= 0}
        fitting = {at: before for at, before in ways.items() if abs(ticks - draws[at]) <= slack_ticks}
        # Where nothing fits there is a fault; what comes after it is told by the nearest.
        came_from.append(fitting or ways)
        reached = set(came_from[-1])
    numbers, at = [], min(reached, default=-1)
    for ways in reversed(came_from):
        numbers.append(at)
        at = ways[at]
    return np.array([draws[number] for number in reversed(numbers)], dtype=np.int64)


def random_intervals(stimulus: Stimulus) -> Iterator[int]:
    """xorshift32, scaled to an interval from half a period to less than one and a half, in ticks."""
    state = _RANDOM_ORIGIN ^ stimulus.parameter
    while True:
        state ^= state << 13 & _WORD
        state ^= state >> 17
        state ^= state << 5 & _WORD
        yield stimulus.period_ticks // 2 + (state * stimulus.period_ticks >> 32)


def _first_step(edges: Samples, due: Ticks, samples_per_tick: float) -> tuple[int, float] | None:
    """The sample of the first edge that lies off the line through its neighbours, and by how much."""
    line = np.concatenate(([0.0], np.cumsum(due))) * samples_per_tick
    off = edges - edges[0] - line
    if len(off) <= NEIGHBOURS:
        spans = np.array([np.ptp(off)])
        usual = 0.0
    else:
        near = np.lib.stride_tricks.sliding_window_view(off, NEIGHBOURS)
        spans = np.ptp(near, axis=1)
        usual = float(np.median(spans))
    wide = np.flatnonzero(spans > min(usual, 1.0) + SLACK_SAMPLES)
    if not wide.size:
        return None
    first = int(wide[0])
    here = off[first : first + NEIGHBOURS]
    at = first + int(np.argmax(np.abs(np.diff(here)))) + 1
    return int(edges[at]), float(off[at] - off[at - 1])
