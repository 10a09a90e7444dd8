"""Finds the edges in a stream of samples. The memory grows with the edges, not with the samples."""

from __future__ import annotations

import numpy as np

from capture.files.errors import CaptureError
from capture.run_folder.edges import CHANNELS, MOST_EDGES, EdgeList, Levels, Samples, Words

# What is compared at a time stays within the second-level cache.
_BLOCK_SAMPLES = 1 << 18
# Where more than one word in this many has changed, comparing bytes is faster than looking into
# them.
_DENSE_DIVISOR = 8


class EdgeExtractor:
    """Collects the edges of 8-bit samples that arrive in pieces of any size.

    `device_bits[i]` is the bit of a sample that carries channel i; by default it is bit i. Other
    bits are dropped before anything is compared. `edges` and `total_samples` count what came so
    far. Raises CaptureError unless each channel has a bit of its own.
    """

    def __init__(
        self,
        samplerate_hz: int,
        channels: tuple[str, ...] = CHANNELS,
        device_bits: tuple[int, ...] | None = None,
        most_edges: int = MOST_EDGES,
    ) -> None:
        bits = tuple(range(len(channels))) if device_bits is None else device_bits
        if len(bits) != len(channels) or len(set(bits)) != len(bits) or not set(bits) <= set(range(8)):
            raise CaptureError(f"Device bits {bits} do not give each of {channels} a bit of its own.")
        self._samplerate_hz = samplerate_hz
        self._channels = channels
        self._word_of = _word_table(bits)
        self._mask = np.uint8(sum(1 << bit for bit in bits))
        self._most_edges = most_edges
        self._last_byte = 0
        self._rows: list[tuple[Samples, Words]] = []
        self.edges = 0
        self.total_samples = 0

    def feed(self, buffer: bytes | bytearray | memoryview) -> None:
        """Takes the next samples, one byte each.

        Raises CaptureError once there are more edges than `most_edges`; what came is kept.
        """
        samples = np.frombuffer(buffer, np.uint8)
        for start in range(0, samples.size, _BLOCK_SAMPLES):
            self._take(samples[start : start + _BLOCK_SAMPLES])
            self._check_count()

    def finish(self) -> EdgeList:
        """The edges of everything fed so far."""
        sample, word = zip(*self._rows, strict=True) if self._rows else ((), ())
        return EdgeList(
            np.concatenate((np.empty(0, np.int64), *sample)),
            np.concatenate((np.empty(0, np.uint8), *word)),
            self._samplerate_hz,
            self.total_samples,
            self._channels,
        )

    def _take(self, block: Words) -> None:
        if not self._rows:
            self._begin(int(block[0] & self._mask))
        if self._mask != 0xFF:
            block = block & self._mask
        self._append(changes(self._last_byte, block), block)
        self._last_byte = int(block[-1])
        self.total_samples += block.size

    def _begin(self, byte: int) -> None:
        self._last_byte = byte
        self._rows.append((np.zeros(1, np.int64), self._word_of[[byte]]))

    def _check_count(self) -> None:
        if self.edges > self._most_edges:
            raise CaptureError(
                f"More than {self._most_edges} edges within {self.total_samples} samples: "
                "an input is probably floating; connect or disable it."
            )

    def _append(self, position: Samples, block: Words) -> None:
        if position.size:
            self.edges += position.size
            self._rows.append((position + self.total_samples, self._word_of[block[position]]))


def changes(previous: int, block: Words) -> Samples:
    """Positions in `block` (uint8[n], n ≥ 1) of the bytes that differ from the one before them.

    `previous` is the byte before the first. Quiet stretches are compared in 64-bit words, each with
    the word that begins one byte later. The two are equal exactly when all nine bytes are.
    """
    words = (block.size - 1) // 8
    earlier = np.frombuffer(block, np.uint64, words)
    later = np.frombuffer(block[1:], np.uint64, words)
    changed = np.flatnonzero(earlier != later)
    if changed.size > words // _DENSE_DIVISOR:
        inner = np.flatnonzero(block[1:] != block[:-1]) + 1
    else:
        inner = np.concatenate((_inside(block, changed), _behind(block, words * 8)))
    return inner if int(block[0]) == previous else np.concatenate((np.zeros(1, np.int64), inner))


def _inside(block: Words, changed: Samples) -> Samples:
    """The changes among the bytes 8w+1 … 8w+8 of each word w in `changed`."""
    position = (changed[:, None] * 8 + np.arange(1, 9)).ravel()
    differs: Levels = block[position] != block[position - 1]
    return position[differs]


def _behind(block: Words, start: int) -> Samples:
    """The changes after byte `start`, where no whole word is left."""
    return np.flatnonzero(block[start + 1 :] != block[start:-1]) + start + 1


def _word_table(bits: tuple[int, ...]) -> Words:
    """uint8[256]: the word of our channels for each byte of the device."""
    byte = np.arange(256, dtype=np.uint8)
    word = np.zeros_like(byte)
    for channel, bit in enumerate(bits):
        word |= (byte >> bit & 1) << channel
    return word
