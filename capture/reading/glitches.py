"""Pulses that no firmware sent: shorter than half of its shortest (docs/reference/glitches.md).

The shortest pulse of a run is an empty section of its calibration, and DWT tells its length. On the
wire it is longer by what raising the pin takes. What is seen to last no longer than half of it is
a glitch, high or low. It can be left out where it stands alone: two edges go, and the level between
them is that beside them. Where short pulses follow each other, an edge of the firmware may be among
them, and nobody knows which; they stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from base.files.errors import CaptureError
from base.run_folder.edges import EdgeList, Samples, settled
from base.run_folder.records import CalibrationRecord, RecordLog

SHORTEST_CYCLES = 18
"""An empty section of any allocator's firmware, by DWT."""


@dataclass(frozen=True)
class Glitches:
    """How many of at most `longest_samples` stand alone, by channel; those without are not named.

    The firmware's shortest pulse lasts `shortest_cycles` at least.
    """

    shortest_cycles: int
    longest_samples: int
    count: Mapping[str, int]


def longest_samples(shortest_cycles: int, samplerate_hz: int, core_hz: int) -> int:
    """How many samples a glitch has at the most; 0 where it cannot be told from a pulse."""
    return shortest_cycles * samplerate_hz // (2 * core_hz)


def check_can_be_told(samplerate_hz: int, core_hz: int) -> None:
    """Raises CaptureError where the firmware's shortest pulse may be one sample, as a glitch is."""
    if not longest_samples(SHORTEST_CYCLES, samplerate_hz, core_hz):
        least = -(-2 * core_hz // SHORTEST_CYCLES)
        raise CaptureError(
            f"At {samplerate_hz:,} samples per second a glitch cannot be told from the firmware's shortest "
            f"pulse, {SHORTEST_CYCLES} cycles; leave out --ignore-glitches, or take {least:,} or more."
        )


def find_glitches(edges: EdgeList, log: RecordLog, core_hz: int) -> Glitches | None:
    """The glitches of a capture; None where no record or sample tells what is one."""
    sections = [record.dwt_cycles for record in log.all(CalibrationRecord)]
    longest = longest_samples(min(sections, default=0), edges.samplerate_hz, core_hz)
    if not longest:
        return None
    count = {name: len(_alone(edges.transitions(name).sample, longest)) for name in edges.channels}
    return Glitches(min(sections), longest, {name: number for name, number in count.items() if number})


def without_glitches(edges: EdgeList, longest: int) -> EdgeList:
    """The capture without those of at most `longest` samples that stand alone."""
    word = edges.word.copy()
    for bit, channel in enumerate(edges.channels):
        sample = edges.transitions(channel).sample
        first = _alone(sample, longest)
        begin, end = (np.searchsorted(edges.sample, sample[at]) for at in (first, first + 1))
        turned = np.zeros(len(word) + 1, dtype=np.uint8)
        turned[begin], turned[end] = 1, 1
        word ^= np.bitwise_xor.accumulate(turned)[:-1] << bit
    return EdgeList(*settled(edges.sample, word), edges.samplerate_hz, edges.total_samples, edges.channels)


def _alone(sample: Samples, longest: int) -> npt.NDArray[np.intp]:
    """The numbers of the edges that begin a short pulse, of these of a channel, intp[glitches].

    Both neighbours of such a pulse are longer.
    """
    short = np.diff(sample) <= longest
    beside = np.concatenate(([False], short, [False]))
    return np.flatnonzero(short & ~beside[:-2] & ~beside[2:])
