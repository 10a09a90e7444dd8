"""A capture on its way to the disk: `edges.stream`, to which blocks of edges are added.

A Parquet file can be read once its end is written. A run that is killed has no end. So a capture is
kept in blocks, each with its own length and checksum, and whoever reads them takes the whole ones
(docs/reference/edges.md). It is read once, turned into `edges.parquet` and removed.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from pydantic import ValidationError

from ..files import locks
from ..files.documents import Table, Texts
from ..files.errors import CaptureError
from ..files.whole import WriteError, open_regular, why
from .edges import MOST_ROWS, EdgeList, Samples, Words

Schema = Literal[2]
SCHEMA: Schema = 2

ROOM_BYTES = 1 << 20
ROOM_ROW_BYTES = 36
"""A finished run takes at most 1 MiB and so many bytes a row. A capture ends when the disk has less
left, so that it can be stored and judged."""

# A mark, rows in the block, samples up to its end, bytes of a distance, and the CRC-32 of these
# three and the content.
_BLOCK = struct.Struct("<4sIQBI")
_MARK = b"edge"
_COUNTS = struct.Struct("<IQB")
_DISTANCE_BYTES = (1, 2, 4, 8)
_ROW_BYTES = 9  # at most
_HEADER_MOST_BYTES = 4 << 10
# A row takes nine bytes; a block more often than once a second of an hour is none of ours.
_MOST_FILE_BYTES = _ROW_BYTES * MOST_ROWS + (1 << 20)


@dataclass(frozen=True)
class StreamedCapture:
    """The edges of the whole blocks, and how many samples had been asked for."""

    edges: EdgeList
    asked_samples: int


class EdgeWriter:
    """Writes a capture to `path` as it comes: a context manager that holds the file.

    Whatever append() has returned from is there for a reader, however this program ends. While it
    is open, read_stream() refuses it.
    """

    def __init__(self, path: Path, samplerate_hz: int, channels: tuple[str, ...], asked_samples: int) -> None:
        """Creates the file. Raises WriteError."""
        header = {
            "schema": SCHEMA,
            "samplerate_hz": samplerate_hz,
            "asked_samples": asked_samples,
            "channels": channels,
        }
        self.path = path
        self._written = 0
        self._rows = 0
        self._total_samples = 0
        try:
            self._file = path.open("xb", buffering=0)
        except OSError as error:
            raise WriteError(f"{path} cannot be made: {why(error)}; nothing was captured.") from None
        with suppress(OSError):  # not every file system has locks
            locks.take(self._file.fileno())
        try:
            self._write(json.dumps(header, separators=(",", ":")).encode() + b"\n")
        except WriteError:
            self.close()
            raise

    def __enter__(self) -> EdgeWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, sample: Samples, word: Words, total_samples: int) -> None:
        """Adds the rows, of an EdgeList, that came up to a total of `total_samples` samples.

        Raises WriteError where the disk takes no more.
        """
        # Of each sample from the one before, in as few bytes as they need.
        distance = np.diff(sample, prepend=self._total_samples)
        distance = distance.astype(np.min_scalar_type(int(distance.max(initial=0))))
        counts = sample.size, total_samples, distance.itemsize
        rows = distance.tobytes() + word.tobytes()
        crc32 = zlib.crc32(_COUNTS.pack(*counts) + rows)
        self._write(_BLOCK.pack(_MARK, *counts, crc32) + rows)
        self._rows += sample.size
        self._total_samples = total_samples

    def check_room(self) -> None:
        """Raises WriteError where what the disk has left will be needed to store the run."""
        disk = os.fstatvfs(self._file.fileno())
        left_bytes = disk.f_bavail * disk.f_frsize
        if left_bytes < ROOM_BYTES + ROOM_ROW_BYTES * self._rows:
            raise WriteError(
                f"The disk of {self.path.parent} has {left_bytes:,} bytes left, which storing the run may "
                "take, so the capture was ended there; make room and run again."
            )

    def close(self) -> None:
        """Lets the file go."""
        if not self._file.closed:
            locks.let_go(self._file.fileno())
            self._file.close()

    def _write(self, content: bytes) -> None:
        """Writes all of `content` or nothing: what was written of it is taken back."""
        end, rest = self._written, memoryview(content)
        try:
            while rest:
                count = os.pwrite(self._file.fileno(), rest, end)
                end, rest = end + count, rest[count:]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self._written)
            words = f"{self.path} cannot be written: {why(error)}; what it has is kept."
            raise WriteError(words) from None
        self._written = end


class _Header(Table):
    """The first line. EdgeList checks the values."""

    schema_: Schema
    samplerate_hz: int
    asked_samples: int
    channels: Texts


@dataclass(frozen=True, eq=False)
class NewEdges:
    """Rows of an EdgeList that came from sample `begin` up to but not including `end`.

    They need have none at `begin`: the levels from there on are then those of the row before.
    """

    sample: Samples
    word: Words
    samplerate_hz: int
    begin: int
    end: int
    channels: tuple[str, ...]


@dataclass
class EdgeFollower:
    """Reads a capture while it is written, a part at a time; one that is `finished` at once."""

    path: Path
    finished: bool = False
    header: _Header | None = None
    _offset: int = 0
    _total_samples: int = 0

    def more(self) -> NewEdges | None:
        """What came since the last look; None if nothing did.

        Raises CaptureError where there is no such file any more, or it is no such capture.
        """
        remedy = "; run again" if self.finished else ""
        try:
            with open_regular(self.path, _MOST_FILE_BYTES) as file:
                if self.finished and locks.is_taken(file.fileno()):
                    raise CaptureError(f"{self.path} is still being captured; wait for the end of that run.")
                if self.header is None:
                    self.header = _Header.model_validate_json(file.readline(_HEADER_MOST_BYTES))
                    self._offset = file.tell()
                file.seek(self._offset)
                blocks = list(_blocks(file, self._total_samples))
        except ValidationError:
            raise CaptureError(f"{self.path} does not begin as a capture does; run again.") from None
        except OSError as error:
            raise CaptureError(f"{self.path} cannot be read ({why(error)}){remedy}.") from None
        if not blocks:
            return None
        self._offset += sum(length for *_, length in blocks)
        begin, self._total_samples = self._total_samples, blocks[-1][2]
        return NewEdges(
            np.concatenate([block[0] for block in blocks]),
            np.concatenate([block[1] for block in blocks]),
            self.header.samplerate_hz,
            begin,
            self._total_samples,
            self.header.channels,
        )


def read_stream(path: Path) -> StreamedCapture:
    """The whole blocks of the capture at `path`.

    Raises CaptureError where there is no such file, it is no such capture, or it is still written.
    """
    follower = EdgeFollower(path, finished=True)
    new = follower.more()
    header = follower.header
    assert header is not None
    rows = (new.sample, new.word) if new else (np.empty(0, np.int64), np.empty(0, np.uint8))
    try:
        edges = EdgeList(*rows, header.samplerate_hz, new.end if new else 0, header.channels)
    except CaptureError as error:
        raise CaptureError(f"{path} is not a usable capture: {error}") from None
    return StreamedCapture(edges, header.asked_samples)


def _blocks(file: BinaryIO, begin: int) -> Iterator[tuple[Samples, Words, int, int]]:
    """Samples, words, the samples so far and the length in bytes of each whole block, up to the
    first that is not. The first one's samples count from `begin`.
    """
    rows_so_far = 0
    while len(head := file.read(_BLOCK.size)) == _BLOCK.size:
        mark, rows, total_samples, width, crc32 = _BLOCK.unpack(head)
        rows_so_far += rows
        if mark != _MARK or rows_so_far > MOST_ROWS or width not in _DISTANCE_BYTES:
            return
        content = file.read(rows * (width + 1))
        if len(content) < rows * (width + 1):
            return
        if zlib.crc32(content, zlib.crc32(_COUNTS.pack(rows, total_samples, width))) != crc32:
            return
        distance = np.frombuffer(content, f"<u{width}", rows)
        yield (
            begin + np.cumsum(distance, dtype=np.int64),
            np.frombuffer(content, np.uint8, rows, offset=width * rows),
            total_samples,
            len(head) + len(content),
        )
        begin = total_samples
