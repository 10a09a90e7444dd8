"""What timers tell: whether STIM and CTRL keep time on the wire, from the first edge to the last;
and when the handler of the kernel's tick may have run, and so what it may have delayed.

STIM and CTRL are moved by timers, whatever the firmware does. So each edge must lie where its
neighbours say. One sample too few, too many or moved is a step in that line, and the step says
where.

SysTick has no pin. But it counts the same cycles as CYCCNT. So its phase, read once together with
CYCCNT, holds for the whole run, and the calibration pulses tell it in samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import polars as pl

from base.arrays import Floats
from base.run_folder.edges import EdgeList, Levels, Samples
from base.run_folder.records import TickRecord
from capture.instruments.calibration import COUNTER_CYCLES, CounterFit
from capture.reading.vectorised import level_at
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


class Step(NamedTuple):
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


def _intervals(channel: str, edges: Samples, stimulus: Stimulus, samples_per_tick: float) -> Samples | None:
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


def _drawn(seen_ticks: Floats, stimulus: Stimulus, slack_ticks: float) -> Samples:
    """The firmware's draws, in their order. The interval under way comes again where the task that
    draws the next one was late. Two draws may be too alike to tell which of them was seen, so all
    ways through that fit are followed, and one that leads to the end is taken.
    """
    draws = list(islice(random_intervals(stimulus), len(seen_ticks) + 1))
    came_from = []
    reached = {-1}
    for ticks in seen_ticks:
        ways = {at: before for before in sorted(reached) for at in (before, before + 1) if at >= 0}
        fitting = {at: before for at, before in ways.items() if abs(ticks - draws[at]) <= slack_ticks}
        if not fitting:  # there is a fault; what comes after it is told by the nearest
            apart = {at: abs(ticks - draws[at]) for at in ways}
            fitting = {at: ways[at] for at in sorted(sorted(ways, key=apart.__getitem__)[:WAYS_MAX])}
        came_from.append(fitting)
        reached = set(came_from[-1])
    drawn, at = [], min(reached, default=-1)
    for ways in reversed(came_from):
        drawn.append(draws[at])
        at = ways[at]
    return np.array(drawn[::-1], dtype=np.int64)


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


def _first_step(edges: Samples, due: Samples, samples_per_tick: float) -> tuple[int, float] | None:
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


def _spread(off: Floats, size: int) -> Floats:
    """How far the `size` edges around each edge lie apart, float64[edges]."""
    around = pl.Series(np.pad(off, (size // 2, (size - 1) // 2), mode="edge"))
    spread = around.rolling_max(size) - around.rolling_min(size)
    return spread[size - 1 :].to_numpy()


# The kernel's tick.


# SysTick is the least urgent interrupt: its handler waits until each of these pins has fallen.
HOLDING_CHANNELS = ("CRIT", "ISR", "CISR")
# From the falling edge to when another handler may begin: the rest of the handler, or of the mask,
# and an exception's entry, for each of the pins that may hold it up in turn.
RELEASE_CYCLES = 60
# More than an hour of them. No run is as long, whatever its capture claims.
TICKS_MAX = 10_000_000


class Ticks(NamedTuple):
    """All ticks within a capture.

    `due` are their samples and `over` those by which their handlers have ended, float64[n] each. A
    handler ran at some time within its interval from `due` to `over`, both included.
    """

    due: Floats
    over: Floats
    period_cycles: int
    samples_per_cycle: float

    def phase_cycles(self, samples: Samples) -> Floats:
        """Cycles from the last tick to each of `samples`, float64[n], below the period."""
        since: Floats = (samples - self.due[0]) / self.samples_per_cycle % self.period_cycles
        return since

    def handler_may_run(self, first: Samples, last: Samples) -> Levels:
        """Whether a handler may have run at some sample from `first` to `last`, bool[n]."""
        begun_by_last = np.searchsorted(self.due, last, side="right")
        return begun_by_last > np.searchsorted(self.over, first, side="left")


def find_ticks(edges: EdgeList, tick: TickRecord | None, counter: CounterFit | None) -> Ticks | None:
    """The ticks of the capture; None where records or calibration do not tell them."""
    if tick is None or counter is None or not edges.total_samples:
        return None
    if edges.total_samples / counter.samples_per_cycle / tick.period_cycles > TICKS_MAX:
        return None
    # The samples, within the capture, at which SysTick reaches zero. The record comes right behind
    # the calibration, where the fit begins to count turns.
    ends = counter.cycles_at(np.array([0, edges.total_samples - 1], dtype=np.int64))
    turns = round((counter.origin_cycles - tick.at_cycles) / COUNTER_CYCLES)
    some_tick = tick.at_cycles + turns * COUNTER_CYCLES + tick.countdown_cycles
    first, last = (ends - some_tick) / tick.period_cycles
    cycles = some_tick + np.arange(np.ceil(first), np.floor(last) + 1) * tick.period_cycles
    due = counter.origin_sample + (cycles - counter.origin_cycles) * counter.samples_per_cycle
    if not len(due):
        return None
    # When the last of the pins that hold up each tick's handler has fallen. While one pin holds the
    # handler up, another may rise: so each has a turn after each other.
    released = np.clip(np.rint(due).astype(np.int64), 0, edges.total_samples - 1)
    for channel in HOLDING_CHANNELS * len(HOLDING_CHANNELS):
        transitions = edges.transitions(channel)
        falls = np.append(transitions.sample[~transitions.level], edges.total_samples - 1)
        fall = falls[np.searchsorted(falls[:-1], released, side="right")]
        released = np.where(level_at(edges, channel, released), fall, released)
    # Two samples more, since the phase and the edges are each known to one.
    handler = (tick.handler_cycles + RELEASE_CYCLES) * counter.samples_per_cycle + 2
    over = np.maximum.accumulate(released + handler)
    return Ticks(due - 1, over, tick.period_cycles, counter.samples_per_cycle)
