"""Captures for tests, drawn from a list of pulses that is known before any sample exists."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from base.run_folder.edges import CHANNELS, EdgeList


@dataclass
class Waveform:
    """Toggles of each channel, by sample. Two of one channel at one sample cancel each other."""

    total_samples: int
    samplerate_hz: int = 84_000_000
    toggles: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in CHANNELS})

    def pulse(self, channel: str, start: int, end: int) -> None:
        self.toggles[channel] += [start, end]

    def toggle(self, channel: str, *samples: int) -> None:
        self.toggles[channel] += samples

    def edges(self) -> EdgeList:
        """Rendered sample by sample, then reduced. Only the last lines know of edges."""
        samples = bytearray(self.total_samples)
        for bit, name in enumerate(CHANNELS):
            places: set[int] = set()
            for sample in self.toggles[name]:
                places ^= {sample}
            level = 0
            for sample in range(self.total_samples):
                level ^= sample in places
                samples[sample] |= level << bit
        rows = [n for n in range(self.total_samples) if n == 0 or samples[n] != samples[n - 1]]
        word = np.frombuffer(bytes(samples), np.uint8)[rows]
        return EdgeList(np.array(rows, np.int64), word, self.samplerate_hz, self.total_samples)


def frame_edges(first_s: float, spacing_ticks: int, tick_hz: float, samplerate_hz: float) -> list[int]:
    """The samples at which an analyzer first sees each of a frame's 64 edges."""
    return [int(np.ceil((first_s + n * spacing_ticks / tick_hz) * samplerate_hz)) for n in range(64)]
