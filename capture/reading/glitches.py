"""Pulses that no firmware sent: shorter than half of its shortest (docs/reference/glitches.md).

The shortest pulse of a run is an empty section of its calibration, and DWT tells its length. What
is seen to last no longer than half of it is a glitch, high or low. It can be left out where it
stands alone: two edges go, and the level between them is that beside them. Where short pulses
follow each other, an edge of the firmware may be among them, and nobody knows which; they stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from base.run_folder.edges import EdgeList, settled
from base.run_folder.records import CalibrationRecord, RecordLog


@dataclass(frozen=True)
class Glitches:
    """How many of at most `longest_samples` were left out, by channel; those without are not named.

    0 samples where no record or sample tells what is one.
    """

    longest_samples: int
    count: Mapping[str, int]


def without_glitches(edges: EdgeList, log: RecordLog, core_hz: int) -> tuple[EdgeList, Glitches]:
    """The capture without those that stand alone, and how many they were."""
    shortest_cycles = min((record.dwt_cycles for record in log.all(CalibrationRecord)), default=0)
    longest = shortest_cycles * edges.samplerate_hz // (2 * core_hz)
    word, count = edges.word.copy(), {}
    for bit, channel in enumerate(edges.channels if longest else ()):
        sample = edges.transitions(channel).sample
        short = np.diff(sample) <= longest
        beside = np.concatenate(([False], short, [False]))
        first = np.flatnonzero(short & ~beside[:-2] & ~beside[2:])
        if first.size:
            count[channel] = int(first.size)
        turned = np.isin(edges.sample, sample[np.append(first, first + 1)]).astype(np.uint8)
        word ^= np.bitwise_xor.accumulate(turned) << bit
    left = EdgeList(*settled(edges.sample, word), edges.samplerate_hz, edges.total_samples, edges.channels)
    return left, Glitches(longest, count)
