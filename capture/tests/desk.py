"""A desk that is made up: pins that pulse, clips on them or off them, and clips that touch.

It knows of the wiring firmware only what docs/reference/wiring-check.md says, and makes samples one
microsecond at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from base.run_folder.edges import EdgeList

PINS = 8
SAMPLERATE_HZ = 1_000_000
Line = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Desk:
    """`clips[i]` is the pin that input i is clipped on, None if it hangs loose; inputs of one of
    the `touching` groups are joined, and high if any of their pins is.

    The board leaves its reset at `reset_us`; before, its pins float. `pace` is how long its
    microsecond is. `held` is the level of what no pin drives.
    """

    clips: Sequence[int | None] = tuple(range(PINS))
    touching: Sequence[frozenset[int]] = ()
    reset_us: int = 0
    pace: float = 1.0
    total_us: int = 209_000
    held: bool = True
    spikes: Sequence[tuple[int, int, int]] = field(default=())
    """Input, begin and length in µs of what nobody sent: its level is inverted there."""

    def joined(self, number: int) -> frozenset[int]:
        """The inputs that this one touches, itself included."""
        return next((group for group in self.touching if number in group), frozenset({number}))

    def pins_at(self, number: int) -> frozenset[int]:
        """The pins that drive this input."""
        return frozenset(pin for other in self.joined(number) if (pin := self.clips[other]) is not None)

    def edges(self) -> EdgeList:
        """The capture."""
        pins = _pins(self)
        word = np.zeros(self.total_us, dtype=np.uint8)
        for number in range(PINS):
            touched = [pins[pin] for pin in self.pins_at(number)]
            line = np.full(self.total_us, self.held and bool(touched))
            for driven, level in touched:
                line[driven] = level[driven]
            for spiked, begin, length in self.spikes:
                if spiked == number:
                    line[begin : begin + length] ^= True
            word |= line.astype(np.uint8) << number
        changes = np.flatnonzero(np.diff(word)) + 1
        sample = np.concatenate([[0], changes])
        return EdgeList(sample, word[sample], SAMPLERATE_HZ, self.total_us)


def _pins(desk: Desk) -> list[tuple[Line, Line]]:
    """When each pin drives, and its level then, microsecond by microsecond."""
    lines = [(np.zeros(desk.total_us, np.bool_), np.zeros(desk.total_us, np.bool_)) for _ in range(PINS)]
    for pin, (driven, level) in enumerate(lines):  # floating
        driven[: desk.reset_us] = True
        level[: desk.reset_us : 37 + 11 * pin] = True

    def at(time_us: int) -> int:
        return desk.reset_us + round(desk.pace * time_us)

    now_us = 0
    while at(now_us) < desk.total_us:
        now_us += 3000
        for pin, (driven, level) in enumerate(lines):
            begin_us = now_us
            now_us += 100
            for _ in range(pin + 1):
                level[at(now_us) : at(now_us + 100)] = True
                now_us += 200
            driven[at(begin_us) : at(now_us)] = True
            now_us += 1000
    return lines
