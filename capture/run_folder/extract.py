"""Finds the edges in a stream of samples. The memory grows with the edges, not with the samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from capture.files.errors import CaptureError
from capture.run_folder.edges import CHANNELS, MOST_EDGES, EdgeList, Samples, Words

# What is compared at a time stays within the second-level cache.
_BLOCK_SAMPLES = 1 << 17
# Truths are looked for eight at a time, where fewer than one in this many is there: below a tenth,
# numpy looks for each by a search of its own. Above, it goes through all without a branch.
_SPARSE_DIVISOR = 10
# Where fewer than one byte in this many changes, words are compared instead.
_FEW_DIVISOR = 512
_WORD_SHIFT = 3
_WORD_BYTES = 1 << _WORD_SHIFT


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
        self._changes = ChangeFinder(_BLOCK_SAMPLES)
        self._last_byte = 0
        self._rows: list[tuple[Samples, Words]] = []
        self._held = 0
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
        for start in range(0, samples.size, _BLOCK_SAMPLES):
            self._take(samples[start : start + _BLOCK_SAMPLES])
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
        sample, word = zip(*self._rows, strict=True) if self._rows else ((), ())
        return (
            np.concatenate((np.empty(0, np.int64), *sample)),
            np.concatenate((np.empty(0, np.uint8), *word)),
        )

    def _take(self, block: Words) -> None:
        if self._mask != 0xFF:
            block = block & self._mask
        if not self.total_samples:
            self._begin(int(block[0]))
        self._append(self._changes(self._last_byte, block), block)
        self._last_byte = int(block[-1])
        self.total_samples += block.size

    def _begin(self, byte: int) -> None:
        self._last_byte = byte
        self._hold(np.zeros(1, np.int64), self._word_of[[byte]])

    def _check_count(self) -> None:
        if self.edges > self._most_edges:
            raise CaptureError(
                f"More than {self._most_edges} edges within {self.total_samples} samples: an input is "
                "floating, or the stimulus comes too often for so long a capture; connect or disable the "
                "input, or choose a longer period."
            )

    def _append(self, position: Samples, block: Words) -> None:
        if position.size:
            self.edges += position.size
            word = self._word_of.take(block.take(position))
            position += self.total_samples
            self._hold(position, word)

    def _hold(self, sample: Samples, word: Words) -> None:
        self._rows.append((sample, word))
        self._held += sample.size


class ChangeFinder:
    """Finds where bytes differ from the one before them, in blocks of at most `most_bytes`.

    There are two ways, of which the last block tells the faster: changes come in stretches.
    """

    def __init__(self, most_bytes: int) -> None:
        # One truth for each byte, in whole 64-bit words.
        self._differs = np.zeros(-(-most_bytes // _WORD_BYTES) * _WORD_BYTES, np.bool_)
        self._many = False

    def __call__(self, previous: int, block: Words) -> Samples:
        """Positions in `block` (uint8[n], n ≥ 1) of the bytes that differ from the one before them.

        `previous` is the byte before the first.
        """
        found = self._among_many(block) if self._many else _among_few(block)
        self._many = found.size * _FEW_DIVISOR > block.size
        return found if int(block[0]) == previous else np.concatenate((np.zeros(1, np.int64), found))

    def _among_many(self, block: Words) -> Samples:
        """Compares byte by byte, and looks for the truths."""
        differs = self._differs[: -(-block.size // _WORD_BYTES) * _WORD_BYTES]
        differs[block.size :] = False
        differs[0] = False
        np.not_equal(block[1:], block[:-1], out=differs[1 : block.size])
        if np.count_nonzero(differs) * _SPARSE_DIVISOR > block.size:
            return np.flatnonzero(differs)
        return _truths(differs.view(np.uint64))


def _among_few(block: Words) -> Samples:
    """Compares 64-bit words, each with the word that begins one byte later.

    The two are equal exactly when all nine bytes are.
    """
    words = (block.size - 1) // _WORD_BYTES
    earlier = np.frombuffer(block, np.uint64, words)
    later = np.frombuffer(block[1:], np.uint64, words)
    changed = np.flatnonzero(earlier != later)
    position = (changed[:, None] * _WORD_BYTES + np.arange(1, _WORD_BYTES + 1)).ravel()
    rest = np.arange(words * _WORD_BYTES + 1, block.size)
    position = np.concatenate((position, rest))
    found: Samples = position[block.take(position) != block.take(position - 1)]
    return found


def _truths(truths: npt.NDArray[np.uint64]) -> Samples:
    """The positions of the truths, eight in a word: in the words that have any."""
    words = np.flatnonzero(truths != 0)
    found = np.flatnonzero(truths.take(words).view(np.bool_))
    position: Samples = words.take(found >> _WORD_SHIFT)
    position <<= _WORD_SHIFT
    found &= _WORD_BYTES - 1
    position += found
    return position


def _word_table(bits: tuple[int, ...]) -> Words:
    """uint8[256]: the word of our channels for each byte of the device."""
    byte = np.arange(256, dtype=np.uint8)
    word = np.zeros_like(byte)
    for channel, bit in enumerate(bits):
        word |= (byte >> bit & 1) << channel
    return word
