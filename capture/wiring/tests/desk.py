"""A desk that is made up: pins that pulse, clips on them or off them, and clips that touch.

It knows of the wiring firmware only what docs/SPEC.md, section 2.1, says, and makes samples one
microsecond at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from capture.run_folder.edges import EdgeList

PINS = 8
SAMPLERATE_HZ = 1_000_000
Line = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Desk:
    """`clips[i]` is the pin that input i is clipped on, None if it hangs loose; inputs of one of
    the `touching` groups are joined, and high if any of their pins is.

    The board leaves its reset at `reset_us`; before, its pins float. `pace` is how long its
    microsecond is.
    """

    clips: Sequence[int | None] = tuple(range(PINS))
    touching: Sequence[frozenset[int]] = ()
    reset_us: int = 0
    pace: float = 1.0
    total_us: int = 200_000
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
            line = np.zeros(self.total_us, dtype=np.bool_)
            for pin in self.pins_at(number):
                line |= pins[pin]
            for spiked, begin, length in self.spikes:
                if spiked == number:
                    line[begin : begin + length] ^= True
            word |= line.astype(np.uint8) << number
        changes = np.flatnonzero(np.diff(word)) + 1
        sample = np.concatenate([[0], changes])
        return EdgeList(sample, word[sample], SAMPLERATE_HZ, self.total_us)


def _pins(desk: Desk) -> list[Line]:
    """The level of each pin, microsecond by microsecond."""
    lines = [np.zeros(desk.total_us, dtype=np.bool_) for _ in range(PINS)]
    for pin, line in enumerate(lines):  # floating
        line[: desk.reset_us : 37 + 11 * pin] = True
    now_us = 0.0
    while desk.reset_us + desk.pace * now_us < desk.total_us:
        now_us += 3000
        for pin, line in enumerate(lines):
            for _ in range(pin + 1):
                rise = desk.reset_us + round(desk.pace * now_us)
                fall = desk.reset_us + round(desk.pace * (now_us + 100))
                line[rise:fall] = True
                now_us += 200
            now_us += 1000
    return lines
