"""Finds the edges in a stream of samples. The memory grows with the edges, not with the samples."""

from __future__ import annotations

import numpy as np
import polars as pl

from ..files.errors import CaptureError
from .edges import CHANNELS, MOST_EDGES, EdgeList, Samples, Words

# What is compared at a time stays within the second-level cache, and is so much that the calls cost
# little.
BLOCK_SAMPLES = 1 << 18
_OFFSETS = pl.Series(np.arange(BLOCK_SAMPLES, dtype=np.uint32))


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
        self._word_of = None if bits == tuple(range(8)) else _word_table(bits)
        self._mask = np.uint8(sum(1 << bit for bit in bits))
        self._most_edges = most_edges
        self._last_byte = 0
        self._rows: list[tuple[Samples, Words]] = []
        self._held = 0
        self._rows_so_far = 0
        self.edges = 0
        self.total_samples = 0

    @property
    def rows_held(self) -> int:
        """How many rows take() would hand over."""
        return self._held

    def feed(self, buffer: bytes | bytearray | memoryview) -> None:
        """Takes the next samples, one byte each.

        Raises CaptureError once there are more edges than `most_edges`; what came is kept.
        """
        samples = np.frombuffer(buffer, np.uint8)
        for start in range(0, samples.size, BLOCK_SAMPLES):
            self._take(samples[start : start + BLOCK_SAMPLES])
            self._check_count()

    def take(self) -> tuple[Samples, Words]:
        """Hands over the rows since the last call, as in an EdgeList, and forgets them."""
        sample, word = self._joined()
        self._rows, self._held = [], 0
        return sample, word

    def finish(self) -> EdgeList:
        """The edges of everything fed so far, where no rows were taken."""
        return EdgeList(*self._joined(), self._samplerate_hz, self.total_samples, self._channels)

    def _joined(self) -> tuple[Samples, Words]:
        if len(self._rows) == 1:
            return self._rows[0]
        sample, word = zip(*self._rows, strict=True) if self._rows else ((), ())
        return (
            np.concatenate((np.empty(0, np.int64), *sample)),
            np.concatenate((np.empty(0, np.uint8), *word)),
        )

    def _take(self, block: Words) -> None:
        if self._mask != 0xFF:
            block = block & self._mask
        first = int(block[0])
        if not self.total_samples or first != self._last_byte:
            self._hold(np.array([self.total_samples]), block[:1].copy())
        self._hold(*_changes(block, self.total_samples))
        self._last_byte = int(block[-1])
        self.edges = self._rows_so_far - 1
        self.total_samples += block.size

    def _check_count(self) -> None:
        if self.edges > self._most_edges:
            raise CaptureError(
                f"More than {self._most_edges} edges within {self.total_samples} samples: an input is "
                "floating, or the stimulus comes too often for so long a capture; connect or disable the "
                "input, or choose a longer period."
            )

    def _hold(self, sample: Samples, byte: Words) -> None:
        if sample.size:
            self._rows.append((sample, byte if self._word_of is None else self._word_of.take(byte)))
            self._held += sample.size
            self._rows_so_far += sample.size


def _changes(block: Words, first_sample: int) -> tuple[Samples, Words]:
    """The bytes of `block` (uint8[n], n ≥ 1) that differ from the one before them in it.

    Their samples, of which the first byte's is `first_sample`, and they themselves. Polars compares
    into bits, and picks what they select at the same speed however many are set. Where all are, it
    hands out the block itself, whose memory is the caller's: hence the copy.
    """
    byte = pl.Series(block)
    later, offset = byte.slice(1), _OFFSETS.slice(1, block.size - 1)
    differs = later != byte.slice(0, block.size - 1)
    sample: Samples = np.add(offset.filter(differs).to_numpy(), first_sample, dtype=np.int64)
    return sample, later.filter(differs).to_numpy(writable=True)


def _word_table(bits: tuple[int, ...]) -> Words:
    """uint8[256]: the word of our channels for each byte of the device."""
    byte = np.arange(256, dtype=np.uint8)
    word = np.zeros_like(byte)
    for channel, bit in enumerate(bits):
        word |= (byte >> bit & 1) << channel
    return word
