"""Digital binary exports of Saleae's Logic 2: a folder with a `digital_N.bin` for each channel.

Versions 0 and 1 of the format (support.saleae.com, "Binary Export Format - Version 0" and "Binary
and CSV Export Formats - 2025 Update"): little-endian; `<SALEAE>`, version, type (0: digital); of
version 0 a level, begin, end and the times of the changes, in seconds. Version 1 has the number of
chunks before that, each with its samplerate; more than one chunk means a gap.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from base.files.errors import CaptureError
from base.files.whole import read_bytes
from base.run_folder.edges import MOST_EDGES
from capture.importing.changes import check_count
from capture.importing.selection import Selection
from capture.importing.timed import Timed

MAGIC = b"<SALEAE>"
_HEADER = struct.Struct("<8sii")
_CHUNKS = struct.Struct("<Q")
_CHUNK_0 = struct.Struct("<IddQ")
_CHUNK_1 = struct.Struct("<IdddQ")
_TIME_BYTES = 8
Seconds = npt.NDArray[np.float64]
_FILE = re.compile(r"digital_([0-9]{1,3})\.bin")
_MOST_BYTES = _HEADER.size + _CHUNKS.size + _CHUNK_1.size + _TIME_BYTES * MOST_EDGES


@dataclass(frozen=True, eq=False)
class _Channel:
    initial: bool
    begin_s: float
    end_s: float
    changes_s: Seconds
    samplerate_hz: int | None
    cut: bool = False
    """The file ends within its changes, and `end_s` is the last that came."""


def files_in(folder: Path) -> dict[str, Path]:
    """The files of an export by the names of their channels, in order."""
    paths = {path.stem: path for path in folder.iterdir() if _FILE.fullmatch(path.name)}
    return dict(sorted(paths.items(), key=lambda item: int(item[0].partition("_")[2])))


def read_saleae_binary(files: Mapping[str, Path], selection: Selection) -> tuple[Timed, dict[str, str]]:
    """The chosen channels, and what each of ours is called there. Raises CaptureError, OSError."""
    names = list(files)
    chosen = {name: names[index] for name, index in selection.among(names).items()}
    channels: dict[str, _Channel] = {}
    for name, theirs in chosen.items():
        channels[name] = _channel(read_bytes(files[theirs], _MOST_BYTES), files[theirs].name)
        check_count(sum(channel.changes_s.size for channel in channels.values()))
    rates = {channel.samplerate_hz for channel in channels.values()}
    whole = [channel for channel in channels.values() if not channel.cut]
    begins, ends = {channel.begin_s for channel in channels.values()}, {channel.end_s for channel in whole}
    if len(rates) != 1 or len(begins) != 1 or len(ends) > 1:
        raise CaptureError("its channels differ in samplerate, begin or end; export them together.")
    (begin_s,) = begins
    end_s = min(channel.end_s for channel in channels.values())
    cut = len(whole) < len(channels)
    return Timed(
        initial={name: channel.initial for name, channel in channels.items()},
        changes={
            name: channel.changes_s[channel.changes_s <= end_s] if cut else channel.changes_s
            for name, channel in channels.items()
        },
        begin=begin_s,
        end=end_s,
        tick_s=Fraction(1),
        floats=True,
        samplerate_hz=rates.pop(),
        cut=cut,
    ), chosen


def _channel(data: bytes, file: str) -> _Channel:
    """What a file says, from its first to its last byte."""
    try:
        magic, version, kind = _HEADER.unpack_from(data)
        if magic != MAGIC or kind != 0:
            raise CaptureError(f"{file} is no digital export of Logic 2.")
        if version == 0:
            return _version_0(data, file)
        if version == 1:
            return _version_1(data, file)
    except struct.error:
        raise CaptureError(f"{file} ends within its header.") from None
    raise CaptureError(f"{file} has format version {version}; 0 and 1 are known here.")


def _version_0(data: bytes, file: str) -> _Channel:
    level, begin_s, end_s, count = _CHUNK_0.unpack_from(data, _HEADER.size)
    times = _times(data, _HEADER.size + _CHUNK_0.size, count, file)
    return _found(_Channel(_level(level, file), begin_s, end_s, times, None), count)


def _version_1(data: bytes, file: str) -> _Channel:
    (chunks,) = _CHUNKS.unpack_from(data, _HEADER.size)
    if chunks != 1:
        raise CaptureError(f"{file} has {chunks} chunks, so gaps or nothing; export a part without gaps.")
    at = _HEADER.size + _CHUNKS.size
    level, rate, begin_s, end_s, count = _CHUNK_1.unpack_from(data, at)
    if not 1 <= rate <= 1e12 or rate != int(rate):
        raise CaptureError(f"{file} has a samplerate of {rate:g} Hz.")
    times = _times(data, at + _CHUNK_1.size, count, file)
    return _found(_Channel(_level(level, file), begin_s, end_s, times, int(rate)), count)


def _found(channel: _Channel, count: int) -> _Channel:
    """A channel of `count` changes, or what of it came."""
    if channel.changes_s.size == count:
        return channel
    last_s = float(channel.changes_s[-1]) if channel.changes_s.size else channel.begin_s
    return replace(channel, end_s=last_s, cut=True)


def _level(level: int, file: str) -> bool:
    if level not in (0, 1):
        raise CaptureError(f"{file} begins with a level of {level}.")
    return bool(level)


def _times(data: bytes, at: int, count: int, file: str) -> Seconds:
    came = (len(data) - at) // _TIME_BYTES
    if came < count <= MOST_EDGES:
        return np.frombuffer(data, "<f8", came, at).astype(np.float64)
    if len(data) != at + _TIME_BYTES * count:
        raise CaptureError(f"{file} has {len(data):,} bytes, other than its {count:,} changes take.")
    return np.frombuffer(data, "<f8", count, at).astype(np.float64)
