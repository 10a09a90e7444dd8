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

import numpy as np
import numpy.typing as npt

from base.files.errors import CaptureError
from base.files.whole import read_bytes
from base.run_folder.edges import MOST_EDGES
from capture.importing.timed import Selection, Timed, check_count

MAGIC = b"<SALEAE>"
_HEADER = struct.Struct("<8sii")
_CHUNK_0 = struct.Struct("<IddQ")
_CHUNK_1 = struct.Struct("<QIdddQ")
_TIME_BYTES = 8
Seconds = npt.NDArray[np.float64]
_FILE = re.compile(r"digital_([0-9]{1,3})\.bin")
_MOST_BYTES = _HEADER.size + _CHUNK_1.size + _TIME_BYTES * MOST_EDGES


def files_in(folder: Path) -> dict[str, Path]:
    """The files of an export by the names of their channels, in order."""
    paths = {path.stem: path for path in folder.iterdir() if _FILE.fullmatch(path.name)}
    return dict(sorted(paths.items(), key=lambda item: int(item[0].partition("_")[2])))


def read_saleae_binary(files: Mapping[str, Path], selection: Selection) -> tuple[Timed, dict[str, str]]:
    """The chosen channels, and what each of ours is called there. Raises CaptureError, OSError."""
    names = list(files)
    chosen = {name: names[index] for name, index in selection.among(names).items()}
    initial: dict[str, bool] = {}
    changes: dict[str, Seconds] = {}
    spans, whole_ends, ends = set(), set(), []
    for name, theirs in chosen.items():
        path = files[theirs]
        rate_hz, begin_s, end_s, count, initial[name], times = _channel(
            read_bytes(path, _MOST_BYTES), path.name
        )
        check_count(sum(part.size for part in changes.values()) + times.size)
        spans.add((rate_hz, begin_s))
        if times.size == count:
            whole_ends.add(end_s)
        else:  # the file ends within its changes: it is known up to the last that came
            end_s = float(times[-1]) if times.size else begin_s
        ends.append(end_s)
        changes[name] = times
    if len(spans) != 1 or len(whole_ends) > 1:
        raise CaptureError("its channels differ in samplerate, begin or end; export them together.")
    end_s, cut = min(ends), not whole_ends or min(ends) not in whole_ends
    ((rate_hz, begin_s),) = spans
    return Timed(
        initial=initial,
        changes={name: times[times <= end_s] if cut else times for name, times in changes.items()},
        begin=begin_s,
        end=end_s,
        tick_s=Fraction(1),
        floats=True,
        samplerate_hz=rate_hz,
        cut=cut,
    ), chosen


def _channel(data: bytes, file: str) -> tuple[int | None, float, float, int, bool, Seconds]:
    """What a file says: the samplerate, begin and end in seconds, how many changes there are, the
    level before them, and those that came.
    """
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
    return int(rate) or None, begin_s, end_s, count, bool(level), times
