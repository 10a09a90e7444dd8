"""The waveform of a serial line, for tests: 8 data bits, least first, no parity, one stop bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from base.run_folder.edges import EdgeList

BAUD = 1_000_000
BIT_SAMPLES = 8
SAMPLERATE_HZ = BAUD * BIT_SAMPLES
IDLE_BITS = 20
FRAME_BITS = 10


def serial_line(
    data: bytes, channel: str = "TX", stop_bits: Iterator[int] | None = None, gap_bits: int = 0
) -> EdgeList:
    """The line idles for 20 bits before `data`, for `gap_bits` behind each byte, and at the end.

    `stop_bits` has the level of each byte's stop bit; by default they are high, as they must be.
    """
    bits = [1] * IDLE_BITS
    for byte in data:
        stop = 1 if stop_bits is None else next(stop_bits)
        bits += [0, *(byte >> bit & 1 for bit in range(8)), stop, *(1,) * gap_bits]
    levels = np.repeat(np.array([*bits, *(1,) * IDLE_BITS], np.uint8), BIT_SAMPLES)
    rows = np.concatenate(([0], np.flatnonzero(levels[1:] != levels[:-1]) + 1))
    return EdgeList(rows, levels[rows], SAMPLERATE_HZ, levels.size, (channel,))


def place(first: int, last: int) -> str:
    """Where sigrok's uart decoder sees the bytes from `first` to `last`: their data bits.

    It looks at the middle of a bit, (8 - 1) / 2 samples after its begin and so at the fourth, and
    states half a bit around it.
    """
    begin = IDLE_BITS + FRAME_BITS * first + 1
    end = IDLE_BITS + FRAME_BITS * last + FRAME_BITS - 1
    return f"{begin * BIT_SAMPLES}-{end * BIT_SAMPLES}"
