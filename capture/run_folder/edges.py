"""The edge list: a capture in its compact, exact form (docs/SPEC.md, sections 1 and 5)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from capture.files.errors import CaptureError, first_line

CHANNELS = ("CRIT", "OP", "STIM", "ISR", "TASK", "CTRL", "CISR", "SYNC")
SCHEMA = 1

_METADATA_KEY = "tailscope"
_PARQUET_SCHEMA = pl.Schema({"sample": pl.Int64, "word": pl.UInt8})
# A small hostile file can state billions of equal rows; 2**28 of them are 2.4 GB, beyond any capture.
_MOST_ROWS = 1 << 28

Samples = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint8]
Levels = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Transitions:
    """The edges of one channel: `sample` int64[m], increasing; `level` bool[m] from that sample on."""

    sample: Samples
    level: Levels


@dataclass(frozen=True, eq=False)
class EdgeList:
    """What the wire showed, without loss.

    `sample` int64[n] strictly increases from 0; `word` uint8[n] holds the levels from that sample on, bit i
    being channel i of `channels`. The first row is sample 0 with the initial levels, each later row differs
    from the one before. `total_samples` counts the samples of the capture. A capture that ended before its
    first sample has no rows and a total of 0. Raises CaptureError where any of this does not hold.
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EdgeList):
            return NotImplemented
        return (
            self.samplerate_hz == other.samplerate_hz
            and self.total_samples == other.total_samples
            and self.channels == other.channels
            and np.array_equal(self.sample, other.sample)
            and np.array_equal(self.word, other.word)
        )

    def initial_level(self, channel: str) -> bool:
        """The level of `channel` at sample 0; low for a capture without samples."""
        bit = self._bit(channel)
        return bool(self.word[:1].any() and self.word[0] >> bit & 1)

    def transitions(self, channel: str) -> Transitions:
        """The edges of `channel`. Its initial level is not an edge."""
        level = (self.word >> self._bit(channel) & 1).astype(np.bool_)
        row = np.flatnonzero(level[1:] != level[:-1]) + 1
        return Transitions(self.sample[row], level[row])

    def until(self, total_samples: int) -> EdgeList:
        """The first `total_samples` samples of the capture, at most all."""
        total = min(total_samples, self.total_samples)
        rows = int(np.searchsorted(self.sample, total))
        return EdgeList(self.sample[:rows], self.word[:rows], self.samplerate_hz, total, self.channels)

    def _bit(self, channel: str) -> int:
        if channel not in self.channels:
            raise CaptureError(f"The capture has no channel {channel}; it has {', '.join(self.channels)}.")
        return self.channels.index(channel)

    def write_parquet(self, path: Path) -> None:
        """Write `edges.parquet` (docs/SPEC.md, section 5). Equal edge lists give equal bytes."""
        description = {
            "schema": SCHEMA,
            "samplerate_hz": self.samplerate_hz,
            "total_samples": self.total_samples,
            "channels": list(self.channels),
        }
        pl.DataFrame({"sample": self.sample, "word": self.word}, schema=_PARQUET_SCHEMA).write_parquet(
            path,
            compression="zstd",
            compression_level=3,
            statistics=False,
            row_group_size=1 << 20,
            metadata={_METADATA_KEY: json.dumps(description, separators=(",", ":"))},
        )


def read_parquet(path: Path) -> EdgeList:
    """Read `edges.parquet`. Raises CaptureError for a file that is missing, damaged or not an edge list."""
    try:
        description = _description(pl.read_parquet_metadata(path).get(_METADATA_KEY))
        frame = _rows(path)
        return EdgeList(
            frame["sample"].to_numpy(),
            frame["word"].to_numpy(),
            description["samplerate_hz"],
            description["total_samples"],
            tuple(description["channels"]),
        )
    except CaptureError as error:
        raise CaptureError(f"{path} is not a usable edge list: {error}") from None
    except FileNotFoundError:
        raise CaptureError(f"{path} does not exist; name a run folder that holds edges.parquet.") from None
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise CaptureError(
            f"{path} is not a readable Parquet file ({first_line(error)}); capture again."
        ) from None


def _rows(path: Path) -> pl.DataFrame:
    lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    if lazy.collect_schema() != _PARQUET_SCHEMA:
        raise CaptureError("its columns are not sample Int64 and word UInt8.")
    rows = lazy.select(pl.len()).collect().item()
    if rows > _MOST_ROWS:
        raise CaptureError(f"it states {rows} rows, more than the {_MOST_ROWS} that are accepted.")
    frame = lazy.collect()
    if any(frame.null_count().row(0)):
        raise CaptureError("it has nulls among its samples or words.")
    return frame


def _description(text: str | None) -> dict[str, Any]:
    """The JSON of the metadata key, its types checked; the values are checked by EdgeList."""
    if text is None:
        raise CaptureError("its metadata has no key 'tailscope'.")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise CaptureError("its metadata is not JSON.") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise CaptureError(f"its schema is not {SCHEMA}, the only one this version reads.")
    if not all(type(found.get(key)) is int for key in ("samplerate_hz", "total_samples")):
        raise CaptureError("its samplerate_hz or total_samples is not a whole number.")
    names = found.get("channels")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise CaptureError("its channels are not a list of names.")
    return found


def _frozen(values: npt.NDArray[Any], dtype: type[np.integer[Any]]) -> npt.NDArray[Any]:
    """A read-only copy of one-dimensional whole numbers, each of which fits `dtype`."""
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
        raise CaptureError(f"A samplerate of {samplerate_hz} Hz is impossible; it must be positive.")
    if not 0 <= total_samples < 1 << 63:
        raise CaptureError(f"A total of {total_samples} samples is impossible.")
    if not 1 <= len(channels) <= 8 or len(set(channels)) != len(channels) or "" in channels:
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
