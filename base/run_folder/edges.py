"""The edge list: a capture in its compact, exact form (docs/reference/edges.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from ..arrays import OfArrays
from ..files.complaints import quoted
from ..files.documents import Table, Texts
from ..files.errors import CaptureError, RunError
from .channels import CHANNELS as CHANNELS
from .channels import MARKED_CHANNELS as MARKED_CHANNELS
from .channels import MOST_SAMPLERATE_HZ as MOST_SAMPLERATE_HZ
from .channels import MOST_SAMPLES as MOST_SAMPLES
from .channels import NS_PER_S as NS_PER_S
from .tables import read_metadata, read_table, write_table

Schema = Literal[1]
SCHEMA: Schema = 1

_COLUMNS = pl.Schema({"sample": pl.Int64, "word": pl.UInt8})

MOST_EDGES = 1 << 22
"""A run has some 10**5. With more than this an input floats; and judging takes some 120 bytes of
memory for each, half a gigabyte for as many.
"""
MOST_ROWS = MOST_EDGES + (1 << 18) + 1
"""The extractor counts once in 2**18 samples, so an edge list may have that many rows more."""
MOST_ROWS_READ = 1 << 24
"""Of edges.parquet: what was captured otherwise may have more edges than a capture here."""
MOST_CHANNELS = 8
"""Bits of a word."""
NOT = "!"
"""Before the name of a channel that is asked of as if low were high."""

Samples = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint8]
Levels = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Transitions:
    """The edges of a channel: `sample` int64[m], increasing, and the `level` bool[m] from it on."""

    sample: Samples
    level: Levels


@dataclass(frozen=True, eq=False)
class EdgeList(OfArrays):
    """A capture without loss.

    `sample` int64[n] strictly increases from 0. `word` uint8[n] holds the levels from that sample
    on: bit i is channel i of `channels`. The first row is sample 0 with the initial levels. Each
    later row has another word than the one before. `total_samples` counts the samples of the
    capture. A capture that ended before its first sample has no rows and a total of 0.

    Raises CaptureError where any of this does not hold.
    """

    sample: Samples
    word: Words
    samplerate_hz: int
    total_samples: int
    channels: tuple[str, ...] = CHANNELS

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", _frozen(self.sample, np.int64))
        object.__setattr__(self, "word", _frozen(self.word, np.uint8))
        _check_description(self.samplerate_hz, self.total_samples, self.channels)
        _check_rows(self.sample, self.word, self.total_samples, len(self.channels))

    @property
    def sample_ns(self) -> float:
        """How long a sample lasts, at the nominal samplerate."""
        return NS_PER_S / self.samplerate_hz

    def initial_level(self, channel: str) -> bool:
        """The level of `channel` at sample 0; low where the capture has no samples.

        Raises CaptureError where there is no such channel, as transitions() does.
        """
        return bool((self.word[:1] >> self._bit(channel) & 1).any()) != channel.startswith(NOT)

    def transitions(self, channel: str) -> Transitions:
        """The edges of `channel`; of `!nIRQ` those of nIRQ, high where that is low. Its initial
        level is not an edge.
        """
        level = (self.word >> self._bit(channel) & 1).astype(np.bool_)
        row = np.flatnonzero(level[1:] != level[:-1]) + 1
        return Transitions(self.sample[row], level[row] != channel.startswith(NOT))

    def until(self, total_samples: int) -> EdgeList:
        """The first `total_samples` samples of the capture, or all where it has fewer."""
        total = min(total_samples, self.total_samples)
        rows = int(np.searchsorted(self.sample, total))
        return EdgeList(self.sample[:rows], self.word[:rows], self.samplerate_hz, total, self.channels)

    def _bit(self, channel: str) -> int:
        channel = channel.removeprefix(NOT)
        if channel not in self.channels:
            raise CaptureError(f"The capture has no channel {channel}; it has {', '.join(self.channels)}.")
        return self.channels.index(channel)

    def write_parquet(self, path: Path) -> None:
        """Writes `edges.parquet`. Equal edge lists give equal bytes."""
        description = {
            "schema": SCHEMA,
            "samplerate_hz": self.samplerate_hz,
            "total_samples": self.total_samples,
            "channels": list(self.channels),
        }
        frame = pl.DataFrame({"sample": self.sample, "word": self.word}, schema=_COLUMNS)
        write_table(path, frame, description, statistics=False, row_group_size=1 << 20)


def settled(sample: Samples, word: Words) -> tuple[Samples, Words]:
    """The rows of an edge list, from words in the order of time.

    Of several words at one sample the last holds, and a word that stays the same is no row.
    """
    last = np.append(sample[1:] != sample[:-1], True)
    sample, word = sample[last], word[last]
    changed = np.append(True, word[1:] != word[:-1])
    return sample[changed], word[changed]


class _Description(Table):
    """The metadata of `edges.parquet`. EdgeList checks the values."""

    schema_: Schema
    samplerate_hz: int
    total_samples: int
    channels: Texts


def read_parquet(path: Path) -> EdgeList:
    """Reads `edges.parquet`.

    Raises CaptureError for a file that is missing, damaged or not an edge list.
    """
    try:
        rows = read_table(path, _COLUMNS, MOST_ROWS_READ)
    except RunError as error:
        raise CaptureError(str(error)) from None
    description = read_metadata(path, _Description, CaptureError)
    try:
        return EdgeList(
            rows["sample"].to_numpy(),
            rows["word"].to_numpy(),
            description.samplerate_hz,
            description.total_samples,
            description.channels,
        )
    except CaptureError as error:
        raise CaptureError(f"{path} is not a usable edge list: {error}") from None


def _frozen(values: npt.NDArray[Any], dtype: type[np.integer[Any]]) -> npt.NDArray[Any]:
    """A read-only copy of `values` as `dtype`.

    Raises CaptureError unless they are one-dimensional whole numbers that fit it.
    """
    given = np.asarray(values)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise CaptureError("Samples and words must be one-dimensional rows of whole numbers.")
    array = given.astype(dtype)
    if not np.array_equal(array, given):
        raise CaptureError(f"A value does not fit {np.dtype(dtype)}.")
    array.setflags(write=False)
    return array


def _check_description(samplerate_hz: int, total_samples: int, channels: tuple[str, ...]) -> None:
    if samplerate_hz <= 0:
        raise CaptureError(f"A samplerate of {quoted(samplerate_hz)} Hz is impossible; it must be positive.")
    if samplerate_hz > MOST_SAMPLERATE_HZ:
        raise CaptureError(f"A samplerate of more than {MOST_SAMPLERATE_HZ:,} Hz is impossible.")
    if not 0 <= total_samples <= MOST_SAMPLES:
        raise CaptureError(
            f"A total of {quoted(total_samples)} samples is impossible: 0 to {MOST_SAMPLES:,}."
        )
    if not 1 <= len(channels) <= MOST_CHANNELS or len(set(channels)) != len(channels) or "" in channels:
        raise CaptureError("The channels must be one to eight different names.")


def _check_rows(sample: Samples, word: Words, total_samples: int, channel_count: int) -> None:
    if sample.size != word.size:
        raise CaptureError(f"There are {sample.size} samples but {word.size} words.")
    if not sample.size:
        if total_samples:
            raise CaptureError(f"There are {total_samples} samples but no row with the initial levels.")
        return
    if sample[0] != 0:
        raise CaptureError(f"The first row is sample {sample[0]}, not sample 0 with the initial levels.")
    if (sample[1:] <= sample[:-1]).any():
        raise CaptureError("The samples do not strictly increase.")
    if sample[-1] >= total_samples:
        raise CaptureError(f"The last row is sample {sample[-1]}, past the total of {total_samples}.")
    if (word[1:] == word[:-1]).any():
        raise CaptureError("Two rows in sequence have the same word.")
    if int(word.max()) >> channel_count:
        raise CaptureError(f"A word has bits above its {channel_count} channels.")


# What is compared at a time stays within the second-level cache, and is so much that the calls cost
# little.
BLOCK_SAMPLES = 1 << 18


class EdgeExtractor:
    """Collects the edges of 8-bit samples that arrive in pieces of any size. The memory grows with
    the edges, not with the samples.

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
        self._word_of = words_of(np.arange(256, dtype=np.uint8).reshape(-1, 1), bits)
        self._mask = np.uint8(sum(1 << bit for bit in bits))
        self._most_edges = most_edges
        self._last_byte = np.uint8(0)
        self._rows: list[tuple[Samples, Words]] = []
        self.rows_held = 0
        """How many rows take() would hand over."""
        self.edges = 0
        self.total_samples = 0

    def feed(self, buffer: bytes | bytearray | memoryview) -> None:
        """Takes the next samples, one byte each.

        Raises CaptureError once there are more edges than `most_edges`; what came is kept.
        """
        samples = np.frombuffer(buffer, np.uint8)
        for start in range(0, samples.size, BLOCK_SAMPLES):
            block = samples[start : start + BLOCK_SAMPLES] & self._mask
            before = self._last_byte if self.total_samples else ~block[0]
            at = np.flatnonzero(np.diff(block, prepend=before))
            if at.size:
                self._rows.append((at + self.total_samples, self._word_of[block[at]]))
            self.rows_held += at.size
            self.edges += at.size - (not self.total_samples)
            self._last_byte = block[-1]
            self.total_samples += block.size
            if self.edges > self._most_edges:
                raise CaptureError(
                    f"More than {self._most_edges} edges within {self.total_samples} samples: an input is "
                    "floating, or the stimulus comes too often for so long a capture; connect or disable "
                    "the input, or choose a longer period."
                )

    def take(self) -> tuple[Samples, Words]:
        """Hands over the rows since the last call, as in an EdgeList, and forgets them."""
        sample, word = zip(*self._rows, strict=True) if self._rows else ((), ())
        self._rows, self.rows_held = [], 0
        return (
            np.concatenate((np.empty(0, np.int64), *sample)),
            np.concatenate((np.empty(0, np.uint8), *word)),
        )

    def finish(self) -> EdgeList:
        """The edges of everything fed, where no rows were taken before; it takes them."""
        return EdgeList(*self.take(), self._samplerate_hz, self.total_samples, self._channels)


def words_of(samples: Words, bits: Sequence[int]) -> Words:
    """uint8[n]: of `samples` uint8[n, m], of m bytes each, the words of which bit i is their bit
    `bits[i]`.
    """
    levels = np.unpackbits(samples, axis=1, bitorder="little")[:, list(bits)]
    return np.packbits(levels, axis=1, bitorder="little").ravel()
