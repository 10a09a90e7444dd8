"""Captures for tests, drawn from a list of pulses that is known before any sample exists."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from base.run_folder.edges import CHANNELS, EdgeList


@dataclass
class Waveform:
    """Toggles of each channel, by sample. Two of one channel at one sample cancel each other."""

    total_samples: int
    samplerate_hz: int = 84_000_000
    toggles: dict[str, list[int]] = field(default_factory=dict)
    channels: tuple[str, ...] = CHANNELS

    def pulse(self, channel: str, start: int, end: int) -> None:
        self.toggle(channel, start, end)

    def toggle(self, channel: str, *samples: int) -> None:
        self.toggles.setdefault(channel, []).extend(samples)

    def edges(self) -> EdgeList:
        """A row for each sample at which the word of all channels changes, and the first."""
        turned = {0: 0}
        for channel, samples in self.toggles.items():
            for sample in samples:
                turned[sample] = turned.get(sample, 0) ^ 1 << self.channels.index(channel)
        rows = [at for at in sorted(turned) if at < self.total_samples and (turned[at] or not at)]
        word = np.array(list(accumulate((turned[at] for at in rows), operator.xor)), np.uint8)
        return EdgeList(np.array(rows, np.int64), word, self.samplerate_hz, self.total_samples, self.channels)


def frame_edges(first_s: float, spacing_ticks: int, tick_hz: float, samplerate_hz: float) -> list[int]:
    """The samples at which an analyzer first sees each of a frame's 64 edges."""
    return [int(np.ceil((first_s + n * spacing_ticks / tick_hz) * samplerate_hz)) for n in range(64)]
