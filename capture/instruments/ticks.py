"""The kernel's tick on the wire: when its handler may have run, and so what it may have delayed.

SysTick has no pin. But it counts the same cycles as CYCCNT. So its phase, read once together with
CYCCNT, holds for the whole run, and the calibration pulses tell it in samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from base.run_folder.edges import EdgeList, Samples
from base.run_folder.records import TickRecord
from capture.instruments.calibration import COUNTER_CYCLES, CounterFit
from capture.reading import vectorised

# SysTick is the least urgent interrupt: its handler waits until each of these pins has fallen.
HOLDING_CHANNELS = ("CRIT", "ISR", "CISR")
# From the falling edge to when another handler may begin: the rest of the handler, or of the mask,
# and an exception's entry, for each of the pins that may hold it up in turn.
RELEASE_CYCLES = 60
# More than an hour of them. No run is as long, whatever its capture claims.
TICKS_MAX = 10_000_000


@dataclass(frozen=True)
class Ticks:
    """All ticks within a capture.

    `due` are their samples and `over` those by which their handlers have ended, float64[n] each. A
    handler ran at some time within its interval from `due` to `over`, both included.
    """

    due: npt.NDArray[np.float64]
    over: npt.NDArray[np.float64]
    period_cycles: int
    samples_per_cycle: float

    def phase_cycles(self, samples: Samples) -> npt.NDArray[np.float64]:
        """Cycles from the last tick to each of `samples`, float64[n], below the period."""
        since: npt.NDArray[np.float64] = (samples - self.due[0]) / self.samples_per_cycle % self.period_cycles
        return since

    def handler_may_run(self, first: Samples, last: Samples) -> npt.NDArray[np.bool_]:
        """Whether a handler may have run at some sample from `first` to `last`, bool[n]."""
        begun_by_last = np.searchsorted(self.due, last, side="right")
        over_before_first = np.searchsorted(self.over, first, side="left")
        may_run: npt.NDArray[np.bool_] = begun_by_last > over_before_first
        return may_run


def find_ticks(edges: EdgeList, tick: TickRecord | None, counter: CounterFit | None) -> Ticks | None:
    """The ticks of the capture; None where records or calibration do not tell them."""
    if tick is None or counter is None or not edges.total_samples:
        return None
    if edges.total_samples / counter.samples_per_cycle / tick.period_cycles > TICKS_MAX:
        return None
    due = _due(edges, tick, counter)
    if not len(due):
        return None
    released = _released(edges, np.rint(due).astype(np.int64))
    # Two samples more, since the phase and the edges are each known to one.
    handler = (tick.handler_cycles + RELEASE_CYCLES) * counter.samples_per_cycle + 2
    over = np.maximum.accumulate(released + handler)
    return Ticks(due - 1, over, tick.period_cycles, counter.samples_per_cycle)


def _due(edges: EdgeList, tick: TickRecord, counter: CounterFit) -> npt.NDArray[np.float64]:
    """The samples, within the capture, at which SysTick reaches zero: float64[n]."""
    ends = counter.cycles_at(np.array([0, edges.total_samples - 1], dtype=np.int64))
    # The record comes right behind the calibration, where the fit begins to count turns.
    turns = round((counter.origin_cycles - tick.at_cycles) / COUNTER_CYCLES)
    some_tick = tick.at_cycles + turns * COUNTER_CYCLES + tick.countdown_cycles
    first, last = (ends - some_tick) / tick.period_cycles
    cycles = some_tick + np.arange(np.ceil(first), np.floor(last) + 1) * tick.period_cycles
    due: npt.NDArray[np.float64] = (
        counter.origin_sample + (cycles - counter.origin_cycles) * counter.samples_per_cycle
    )
    return due


def _released(edges: EdgeList, due: Samples) -> Samples:
    """When the last of the pins that hold up each tick's handler has fallen: samples, int64[n]."""
    released = np.clip(due, 0, edges.total_samples - 1)
    # While one pin holds the handler up, another may rise: so each has a turn after each other.
    for channel in HOLDING_CHANNELS * len(HOLDING_CHANNELS):
        transitions = edges.transitions(channel)
        falls = np.append(transitions.sample[~transitions.level], edges.total_samples - 1)
        fall = falls[np.searchsorted(falls[:-1], released, side="right")]
        released = np.where(vectorised.level_at(edges, channel, released), fall, released)
    return released
