"""sigrok session files (`.sr`).

A session is a zip of `version`, `metadata` and the samples: in numbered chunks since version 2,
which libsigrok 0.5 writes (`src/output/srzip.c`, `src/session_file.c`), in one piece in version 1.
"""

from __future__ import annotations

import configparser
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..files.errors import CaptureError, first_line
from ..files.whole import open_regular, write_whole
from .edges import MOST_CHANNELS, EdgeExtractor, EdgeList, Words, words_of

CHUNK_SAMPLES = 16 << 20
MOST_SAMPLES = 1 << 33
"""102 s at 84 MS/s. Each is a byte once unpacked: a file
of a megabyte can hold 2**30 of them.
"""
# A session of the most samples, with the most edges, is
# smaller; and sigrok puts 4 MiB into a chunk.
_MOST_FILE_BYTES = 256 << 20
MOST_MEMBERS = 20_000
_DIRECTORY_MOST_BYTES = 100 * MOST_MEMBERS

# The last record of a zip: signature, members, bytes of their list, bytes of a comment. A locator
# before it leads to larger numbers (PKWARE's APPNOTE.TXT, sections 4.3.15 and 4.3.16).
_ZIP_END = struct.Struct("<4s6xHI4xH")
_ZIP_END_SIGNATURE = b"PK\5\6"
_ZIP64_SIGNATURE = b"PK\6\7"
_ZIP64_LOCATOR_BYTES = 20

# What the library raises for one that is damaged; ValueError for a name that is no text.
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError),
)

_SECTION = "device 1"
_CAPTURE_FILE = "logic-1"
_METADATA_MOST_BYTES = 64 << 10
_READ_BYTES = 1 << 20
_UNIT_BYTES_MOST = 8
# Fixed, so that equal captures give equal bytes. It is the earliest that a zip can hold.
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000, "G": 1_000_000_000}


Choice = Callable[[Sequence[str]], dict[str, int]]
"""Given the names in a session, ours of those that are wanted, and the index of each."""


def write_sr(path: Path, edges: EdgeList) -> None:
    """Writes `edges` as a session file that sigrok-cli and PulseView open.

    The samples are expanded chunk by chunk. The file appears under its name only when it is whole.
    Raises WriteError where it cannot be written.
    """
    metadata = (
        f"[{_SECTION}]",
        f"capturefile={_CAPTURE_FILE}",
        f"total probes={len(edges.channels)}",
        f"samplerate={edges.samplerate_hz} Hz",
        "total analog=0",
        *(f"probe{number}={name}" for number, name in enumerate(edges.channels, 1)),
        "unitsize=1",
    )

    def write(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w") as archive:

            def add(name: str, data: bytes | memoryview) -> None:
                entry = zipfile.ZipInfo(name, _TIMESTAMP)
                entry.create_system = 3
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED, compresslevel=1)

            add("version", b"2")
            add("metadata", "".join(f"{line}\n" for line in metadata).encode())
            for number, chunk in enumerate(_chunks(edges), 1):
                add(f"{_CAPTURE_FILE}-{number}", chunk.data)

    write_whole(path, write)


def _chunks(edges: EdgeList) -> Iterator[Words]:
    """The samples, at most CHUNK_SAMPLES at a time. Without samples there is one empty chunk."""
    if not edges.total_samples:
        yield np.empty(0, np.uint8)
    for start in range(0, edges.total_samples, CHUNK_SAMPLES):
        end = min(start + CHUNK_SAMPLES, edges.total_samples)
        first = int(np.searchsorted(edges.sample, start, side="right")) - 1
        last = int(np.searchsorted(edges.sample, end))
        borders = np.clip(edges.sample[first:last], start, None)
        yield np.repeat(edges.word[first:last], np.diff(borders, append=end))


def read_sr(path: Path) -> EdgeList:
    """Reads the edges of a session file with at most eight logic channels, in bounded memory.

    Channels that were disabled when it was recorded are left out. Raises CaptureError for a file
    that is missing, damaged, or not such a session.
    """
    return read_channels(path, _every)[0]


def _every(names: Sequence[str]) -> dict[str, int]:
    if len(names) > MOST_CHANNELS:
        raise CaptureError(f"it has {len(names)} channels; at most {MOST_CHANNELS} are read.")
    if len(set(names)) != len(names):
        raise CaptureError("its channels do not have different names.")
    return {name: index for index, name in enumerate(names)}


def read_channels(
    path: Path, choose: Choice, samplerate_hz: int | None = None
) -> tuple[EdgeList, dict[str, str], bool]:
    """Reads at most eight of a session's logic channels, as read_sr() does.

    `choose` says which, and how they are to be called; it may raise CaptureError. `samplerate_hz`
    is that of a session that states none. Returns the edges, the session's name of each channel,
    and whether the session states its samplerate.
    """
    try:
        with open_regular(path, _MOST_FILE_BYTES) as file:
            _check_directory(file)
            with zipfile.ZipFile(file) as archive:
                return _read(archive, choose, samplerate_hz)
    except CaptureError as error:
        raise CaptureError(f"{path} is not a usable session file: {error}") from None
    except FileNotFoundError:
        raise CaptureError(f"{path} does not exist; name a session file (.sr) of sigrok.") from None
    except (*_ZIP_ERRORS, OSError) as error:
        raise CaptureError(
            f"{path} is not a readable zip file ({first_line(error)}); capture again."
        ) from None


def _check_directory(file: BinaryIO) -> None:
    """Raises CaptureError where the zip lists more members than a session has.

    The library reads the whole list first, and goes by the end of the file.
    """
    size = file.seek(0, 2)
    file.seek(-min(size, _ZIP64_LOCATOR_BYTES + _ZIP_END.size), 2)
    tail = file.read()
    if len(tail) < _ZIP_END.size:
        return  # no zip, as the library will say
    signature, members, directory_bytes, comment_bytes = _ZIP_END.unpack(tail[-_ZIP_END.size :])
    if signature != _ZIP_END_SIGNATURE or comment_bytes or tail.startswith(_ZIP64_SIGNATURE):
        raise CaptureError("it does not end as a session of sigrok does.")
    if members > MOST_MEMBERS or directory_bytes > _DIRECTORY_MOST_BYTES:
        raise CaptureError(f"it has more than {MOST_MEMBERS:,} members.")


def _read(
    archive: zipfile.ZipFile, choose: Choice, given_hz: int | None
) -> tuple[EdgeList, dict[str, str], bool]:
    if _member(archive, "version", 16).strip() not in (b"1", b"2"):
        raise CaptureError("its version is neither 1 nor 2, which are read.")
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    try:
        parser.read_string(_member(archive, "metadata", _METADATA_MOST_BYTES).decode())
        device = parser[_SECTION]
        unit_bytes, total = int(device["unitsize"]), int(device["total probes"])
        own_hz = samplerate_hz(device["samplerate"]) if "samplerate" in device else 0
        entries = _chunk_entries(archive, device["capturefile"], unit_bytes)
    except KeyError as error:
        raise CaptureError(f"its metadata has no {error}.") from None
    except (configparser.Error, ValueError) as error:
        raise CaptureError(f"its metadata cannot be understood ({str(error).splitlines()[0]}).") from None
    if not 1 <= unit_bytes <= _UNIT_BYTES_MOST or not 1 <= total <= 8 * unit_bytes:
        raise CaptureError(
            f"it has {total} channels in {unit_bytes} bytes per sample; up to 8 in each of 1 to 8 "
            "bytes are read."
        )
    rate_hz = own_hz or given_hz
    if rate_hz is None:
        raise CaptureError("it states no samplerate; give --samplerate.")
    probes = {bit: device[f"probe{bit + 1}"] for bit in range(8 * unit_bytes) if f"probe{bit + 1}" in device}
    chosen = choose([*probes.values()])
    bits = tuple([*probes][index] for index in chosen.values())
    extractor = EdgeExtractor(rate_hz, tuple(chosen), bits if unit_bytes == 1 else None)
    for entry in entries:
        with archive.open(entry) as chunk:
            while data := chunk.read(_READ_BYTES):
                if unit_bytes > 1:  # a byte for each sample: bit i is that of `bits[i]`
                    if len(data) % unit_bytes:
                        raise CaptureError("a chunk of it ends within a sample.")
                    data = words_of(np.frombuffer(data, np.uint8).reshape(-1, unit_bytes), bits).tobytes()
                extractor.feed(data)
    return extractor.finish(), {name: probes[bit] for name, bit in zip(chosen, bits, strict=True)}, own_hz > 0


def _member(archive: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    if name not in archive.namelist():
        raise CaptureError(f"it has no '{name}'.")
    with archive.open(name) as member:
        data = member.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise CaptureError(f"its '{name}' is longer than {most_bytes} bytes.")
    return data


def samplerate_hz(text: str) -> int:
    """The rate that `text` says: `84 MHz` or `1.5 kHz` as libsigrok writes it, or a number.

    Raises ValueError where it is none, or no whole number of hertz.
    """
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([kMG]?)(?:Hz)?", text)
    if not match:
        raise ValueError(f"samplerate {text[:40]!r}")
    rate_hz = Decimal(match[1]) * _UNITS[match[2]]
    if rate_hz != int(rate_hz):
        raise ValueError(f"samplerate {text[:40]!r} is not a whole number of hertz")
    return int(rate_hz)


def _chunk_entries(archive: zipfile.ZipFile, capture_file: str, unit_bytes: int) -> list[zipfile.ZipInfo]:
    """The chunks, in the order of their numbers. Older sessions have one chunk without a number."""
    present = {entry.filename: entry for entry in archive.infolist()}
    if len(present) != len(archive.infolist()):
        raise CaptureError("two of its members have the same name.")
    chunks = [capture_file]
    if capture_file not in present:
        numbered = re.compile(re.escape(capture_file) + "-[1-9][0-9]*")
        count = len([*filter(numbered.fullmatch, present)])
        chunks = [f"{capture_file}-{number}" for number in range(1, max(count, 1) + 1)]
    for name in chunks:
        if name not in present:
            raise CaptureError(f"its chunk '{name}' is missing, so that samples would be lost.")
    entries = [present[name] for name in chunks]
    samples = sum(entry.file_size for entry in entries) // max(unit_bytes, 1)
    if samples > MOST_SAMPLES:
        raise CaptureError(f"it states {samples} samples, more than the {MOST_SAMPLES} that are read.")
    return entries
