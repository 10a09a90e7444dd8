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
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from base.arrays import Floats
from base.files.errors import CaptureError
from base.files.whole import read_bytes
from base.run_folder.edges import MOST_EDGES
from capture.importing.timed import Named, Timed, among, check_count

MAGIC = b"<SALEAE>"
_HEADER = struct.Struct("<8sii")
_CHUNK_0 = struct.Struct("<IddQ")
_CHUNK_1 = struct.Struct("<QIdddQ")
_TIME_BYTES = 8
_FILE = re.compile(r"digital_([0-9]{1,3})\.bin")
_MOST_BYTES = _HEADER.size + _CHUNK_1.size + _TIME_BYTES * MOST_EDGES


def files_in(folder: Path) -> dict[str, Path]:
    """The files of an export by the names of their channels, in order. Raises CaptureError where
    there is none.
    """
    paths = {path.stem: path for path in folder.iterdir() if _FILE.fullmatch(path.name)}
    if not paths:
        raise CaptureError("it is a folder without digital_0.bin, …, as Logic 2 exports them.")
    return dict(sorted(paths.items(), key=lambda item: int(item[0].partition("_")[2])))


class _Channel(NamedTuple):
    """What a file says: the samplerate, begin and end in seconds, the level before the changes, and
    those that came. Where it is `cut` within them, it is known up to the last that came.
    """

    rate_hz: int | None
    begin_s: float
    end_s: float
    level: bool
    times: Floats
    cut: bool


def read_saleae_binary(files: Mapping[str, Path], named: Named) -> Timed:
    """The chosen channels. Raises CaptureError, OSError."""
    names = list(files)
    named = {name: names[index] for name, index in among(named, names).items()}
    channels = {name: _channel(files[theirs]) for name, theirs in named.items()}
    check_count(sum(channel.times.size for channel in channels.values()))
    spans = {(channel.rate_hz, channel.begin_s) for channel in channels.values()}
    whole_ends = {channel.end_s for channel in channels.values() if not channel.cut}
    if len(spans) != 1 or len(whole_ends) > 1:
        raise CaptureError("its channels differ in samplerate, begin or end; export them together.")
    end_s = min(channel.end_s for channel in channels.values())
    cut = end_s not in whole_ends
    ((rate_hz, begin_s),) = spans
    return Timed(
        format="Saleae binary",
        named=named,
        initial={name: channel.level for name, channel in channels.items()},
        changes={
            name: channel.times[channel.times <= end_s] if cut else channel.times
            for name, channel in channels.items()
        },
        begin=begin_s,
        end=end_s,
        tick_s=Fraction(1),
        floats=True,
        samplerate_hz=rate_hz,
        cut=cut,
    )


def _channel(path: Path) -> _Channel:
    data, file = read_bytes(path, _MOST_BYTES), path.name
    try:
        magic, version, kind = _HEADER.unpack_from(data)
        if magic != MAGIC or kind != 0:
            raise CaptureError(f"{file} is no digital export of Logic 2.")
        if version not in (0, 1):
            raise CaptureError(f"{file} has format version {version}; 0 and 1 are known here.")
        layout = _CHUNK_1 if version else _CHUNK_0
        fields = layout.unpack_from(data, _HEADER.size)
    except struct.error:
        raise CaptureError(f"{file} ends within its header.") from None
    chunks, level, rate, begin_s, end_s, count = fields if version else (1, fields[0], 0, *fields[1:])
    if chunks != 1:
        raise CaptureError(f"{file} has {chunks} chunks, so gaps or nothing; export a part without gaps.")
    if level not in (0, 1) or (version and not (1 <= rate <= 1e12 and rate == int(rate))):
        raise CaptureError(f"{file} begins with a level of {level} at a samplerate of {rate:g} Hz.")
    at = _HEADER.size + layout.size
    came = (len(data) - at) // _TIME_BYTES
    if count > MOST_EDGES or (came >= count and len(data) != at + _TIME_BYTES * count):
        raise CaptureError(f"{file} has {len(data):,} bytes, other than its {count:,} changes take.")
    times = np.frombuffer(data, "<f8", min(came, count), at).astype(np.float64)
    if cut := times.size < count:
        end_s = float(times[-1]) if times.size else begin_s
    return _Channel(int(rate) or None, begin_s, end_s, bool(level), times, cut)
