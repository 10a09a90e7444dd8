"""What an analyzer of some rate can tell of a core of 84 MHz (docs/reference/wiring.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from base.run_folder.edges import NS_PER_S
from capture.reading.glitches import SHORTEST_CYCLES, longest_samples
from firmware.build import boards

CORE_HZ = boards.default().core_hz

RATES_HZ = (8_000_000, 12_000_000, 16_000_000, 24_000_000, 50_000_000, CORE_HZ, 100_000_000)
"""Those of an FX2, then faster ones; the virtual board's own in between."""


@dataclass(frozen=True)
class Resolution:
    """What samples of `samplerate_hz` tell.

    A width is a whole number of samples, and off by less than one.
    """

    samplerate_hz: int

    @property
    def sample_ns(self) -> float:
        """How long a sample lasts, which is what a width may be off."""
        return NS_PER_S / self.samplerate_hz

    @property
    def sample_cycles(self) -> float:
        """The same in cycles of the core."""
        return CORE_HZ / self.samplerate_hz

    @property
    def shortest_samples(self) -> tuple[int, int]:
        """The fewest and the most samples of a section of SHORTEST_CYCLES."""
        samples = SHORTEST_CYCLES / self.sample_cycles
        return math.floor(samples), math.ceil(samples)

    @property
    def glitch_samples(self) -> int:
        """How long a glitch may be that --ignore-glitches leaves out."""
        return longest_samples(SHORTEST_CYCLES, self.samplerate_hz, CORE_HZ)

    @property
    def one_percent_ns(self) -> float:
        """How long a section is of which a sample is one part in 100."""
        return 100 * self.sample_ns


def table() -> str:
    """The rows of the page, a line each."""
    return "\n".join(_row(Resolution(rate)) for rate in RATES_HZ)


def _row(resolution: Resolution) -> str:
    least, most = resolution.shortest_samples
    section = f"{least}" if least == most else f"{least} to {most}"
    glitch = f"{resolution.glitch_samples}" if resolution.glitch_samples else "cannot be told"
    return (
        f"| {resolution.samplerate_hz / 1e6:g} MS/s | {resolution.sample_ns:.1f} ns "
        f"| {resolution.sample_cycles:.2f} | {section} "
        f"| {resolution.one_percent_ns / 1e3:.2f} µs | {glitch} |"
    )
