"""The kernel's tick on the wire: when its handler may have run, and which interrupts it may have delayed.

SysTick has no pin. But it counts the same cycles as CYCCNT, so its phase, read together with CYCCNT once,
holds for the whole run, and the calibration pulses carry it over to the analyzer's samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capture.instruments.clocks import CounterFit
from capture.reading import vectorised
from capture.run_folder.edges import EdgeList, Samples
from capture.run_folder.records import TickRecord

# SysTick is the least urgent of the interrupts: it waits for every one of these pins to fall.
HOLDING = ("CRIT", "ISR", "CISR")
# What follows the falling edge before another handler can begin: the end of the handler, or of the mask, and
# an exception's entry, for each of the pins that may hold it up in turn.
RELEASE_CYCLES = 60


@dataclass(frozen=True)
class Ticks:
    """All ticks within a capture: `due` are their samples, float64[n]; the handler of each ran within the
    closed interval from `due` to `over`, float64[n], if not all of the time.
    """

    due: npt.NDArray[np.float64]
    over: npt.NDArray[np.float64]
    period_cycles: int
    samples_per_cycle: float

    def phase_cycles(self, samples: Samples) -> npt.NDArray[np.float64]:
        """Cycles from the last tick to each of `samples`, float64[n], below the period."""
        since: npt.NDArray[np.float64] = (samples - self.due[0]) / self.samples_per_cycle % self.period_cycles
        return since

    def touch(self, first: Samples, last: Samples) -> npt.NDArray[np.bool_]:
        """Whether a handler may have run at some time from `first` to `last`, bool[n]."""
        begun_by_last = np.searchsorted(self.due, last, side="right")
        over_before_first = np.searchsorted(self.over, first, side="left")
        touched: npt.NDArray[np.bool_] = begun_by_last > over_before_first
        return touched


def find_ticks(edges: EdgeList, tick: TickRecord | None, counter: CounterFit | None) -> Ticks | None:
    """The ticks of the capture; None where records or calibration do not tell of them."""
    if tick is None or counter is None or not tick.period_cycles or not edges.total_samples:
        return None
    due = _due(edges, tick, counter)
    if not len(due):
        return None
    released = _released(edges, np.rint(due).astype(np.int64))
    # Both the phase and the edges are known to a sample.
    handler = (tick.handler_cycles + RELEASE_CYCLES) * counter.samples_per_cycle + 2
    over = np.maximum.accumulate(released + handler)
    return Ticks(due - 1, over, tick.period_cycles, counter.samples_per_cycle)


def _due(edges: EdgeList, tick: TickRecord, counter: CounterFit) -> npt.NDArray[np.float64]:
    """Samples at which SysTick reaches zero, within the capture: float64[n]."""
    ends = counter.cycles_at(np.array([0, edges.total_samples - 1], dtype=np.int64))
    some_tick = tick.at_cycles + tick.countdown_cycles
    first, last = (ends - some_tick) / tick.period_cycles
    cycles = some_tick + np.arange(np.ceil(first), np.floor(last) + 1) * tick.period_cycles
    due: npt.NDArray[np.float64] = (
        counter.origin_sample + (cycles - counter.origin_cycles) * counter.samples_per_cycle
    )
    return due


def _released(edges: EdgeList, due: Samples) -> Samples:
    """When the last of the pins that hold the tick's handler up has fallen: int64[n]."""
    released = np.clip(due, 0, edges.total_samples - 1)
    for channel in HOLDING * len(HOLDING):
        transitions = edges.transitions(channel)
        falls = np.append(transitions.sample[~transitions.level], edges.total_samples - 1)
        fall = falls[np.searchsorted(falls[:-1], released, side="right")]
        released = np.where(vectorised.level_at(edges, channel, released), fall, released)
    return released
