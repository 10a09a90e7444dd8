"""Captures for tests, drawn from a list of pulses that is known before any sample exists."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from hypothesis import strategies as st

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


@st.composite
def captures(
    draw: st.DrawFn, most: int, samplerate_hz: int, channels: tuple[str, ...] | None = None
) -> EdgeList:
    """Any words at any places, of all channels or of one of two sets of them: every coincidence of
    edges that two rows can have.
    """
    count = draw(st.integers(0, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    widest = draw(st.sampled_from([1, 3, 200]))
    sample = np.concatenate((np.zeros(1, np.int64), np.cumsum(random.integers(1, widest + 1, count))))
    flips = random.integers(1, 256, count + 1)
    if draw(st.booleans()):
        flips = 1 << random.integers(0, 8, count + 1)
    flips[0] = draw(st.integers(0, 255))
    word = np.bitwise_xor.accumulate(flips).astype(np.uint8)
    if channels and draw(st.booleans()):
        word &= 2 ** len(channels) - 1
        kept = np.append(True, word[1:] != word[:-1])
        sample, word = sample[kept], word[kept]
    else:
        channels = CHANNELS
    return EdgeList(sample, word, samplerate_hz, int(sample[-1]) + draw(st.integers(1, 300)), channels)
