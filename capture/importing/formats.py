"""Recognises what another tool wrote by its content, and reads it."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from base.files.errors import CaptureError
from base.files.whole import open_regular, why
from base.processes import children
from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Imported
from base.run_folder.session_file import read_channels
from capture.importing import dsview_csv, saleae_binary, saleae_csv, sigrok_csv, waves
from capture.importing.changes import LINE_MOST_BYTES, TEXT_MOST_BYTES
from capture.importing.dsview_csv import read_dsview_csv
from capture.importing.saleae_binary import read_saleae_binary
from capture.importing.saleae_csv import read_saleae_csv
from capture.importing.selection import Selection
from capture.importing.sigrok_csv import read_sigrok_csv
from capture.importing.timed import RateFrom, Timed, agreed, sampled
from capture.importing.vcd import read_vcd
from capture.importing.waves import read_waves

_ZIP = b"PK\3\4"
_HASHED_BYTES = 1 << 20
_CONVERTED_WITHIN_S = 60.0


@dataclass(frozen=True, eq=False)
class Import:
    """A capture of another tool: the edges of the channels that were named, and their origin."""

    edges: EdgeList
    origin: Imported
    losses: tuple[str, ...] = ()
    """What the file does not have that it began to tell: sentences."""
    lost: int = 0
    """Edges that lay two in a sample, and so are none."""


def read(path: Path, channels: Mapping[str, str] | None = None, samplerate_hz: int | None = None) -> Import:
    """Reads a session of sigrok, a VCD, FST or GHW, a CSV of sigrok, DSView or Saleae, a binary
    export of Logic 2, or what sigrok-cli knows besides.

    Of the last give the folder, or one of its files. `channels` has the file's name of each of our
    channels; None is as Selection says. `samplerate_hz` is that of the analyzer, for files
    that do not state it.

    Raises CaptureError with one sentence for whatever cannot be read so.
    """
    selection = Selection(channels)
    with _told_of(path):
        session = path.is_file() and _begin(path).startswith(_ZIP)
    if session:
        return _session(path, selection, samplerate_hz)
    with _told_of(path):
        return _read(path, selection, samplerate_hz)


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Puts the file before what is wrong with it."""
    try:
        yield
    except CaptureError as error:
        raise CaptureError(f"{path} cannot be imported: {error}") from None
    except OSError as error:
        raise CaptureError(f"{path} cannot be imported: {why(error)}.") from None


def _begin(path: Path) -> bytes:
    with open_regular(path, sigrok_csv.MOST_BYTES) as file:
        return file.read(LINE_MOST_BYTES)


def _read(path: Path, selection: Selection, samplerate_hz: int | None) -> Import:
    if path.is_dir():
        files = saleae_binary.files_in(path)
        if not files:
            raise CaptureError("it is a folder without digital_0.bin, …, as Logic 2 exports them.")
        return _saleae_binary(files, selection, samplerate_hz)
    begin = _begin(path)
    if begin.startswith(saleae_binary.MAGIC):
        return _saleae_binary({path.stem: path}, selection, samplerate_hz)
    for magic, kind in waves.KINDS.items():
        if begin.startswith(magic):
            timed, names = read_waves(path, kind, selection)
            return _timed((path,), kind, timed, names, samplerate_hz)
    with open_regular(path, sigrok_csv.MOST_BYTES) as file:
        return _text(path, file, _first_line(begin), selection, samplerate_hz)


def _first_line(begin: bytes) -> str:
    lines = begin.decode("utf-8", errors="replace").lstrip("\ufeff").lstrip().splitlines()
    return lines[0] if lines else ""


def _text(path: Path, file: BinaryIO, first: str, selection: Selection, samplerate_hz: int | None) -> Import:
    if first.startswith(sigrok_csv.COMMENT):
        by_dsview = any(maker in first for maker in dsview_csv.MAKERS)
        reader = read_dsview_csv if by_dsview else read_sigrok_csv
        edges, names, has_rate, cut = reader(file, selection, samplerate_hz)
        kind = "DSView CSV" if by_dsview else "sigrok CSV"
        origin = _origin((path,), kind, "file" if has_rate else "option", names)
        return Import(edges, origin, _losses(path.name, edges, cut))
    if path.stat().st_size > TEXT_MOST_BYTES:
        raise CaptureError(f"it has more than {TEXT_MOST_BYTES:,} bytes, the most that is read.")
    if saleae_csv.is_heading(first):
        timed, names = read_saleae_csv(file, selection)
        return _timed((path,), "Saleae CSV", timed, names, samplerate_hz)
    if first.startswith("$"):
        timed, names = read_vcd(file, selection)
        return _timed((path,), "VCD", timed, names, samplerate_hz)
    return _by_sigrok(path, selection, samplerate_hz)


def _session(path: Path, selection: Selection, samplerate_hz: int | None) -> Import:
    edges, names, has_rate = read_channels(path, selection.among, samplerate_hz)
    with _told_of(path):
        agreed(edges.samplerate_hz, samplerate_hz)
    return Import(edges, _origin((path,), "sigrok session", "file" if has_rate else "option", names))


def _by_sigrok(path: Path, selection: Selection, samplerate_hz: int | None) -> Import:
    """What libsigrok recognises by itself, such as Lauterbach's or Intronix' files."""
    with TemporaryDirectory() as folder:
        session = Path(folder) / "converted.sr"
        with suppress(OSError, subprocess.TimeoutExpired):
            children.run(["sigrok-cli", "-i", path.resolve(), "-o", session], within_s=_CONVERTED_WITHIN_S)
        if not session.is_file():
            raise CaptureError(
                "it is neither a session of sigrok (.sr), nor VCD, FST or GHW, nor CSV of sigrok, DSView or "
                "Saleae, nor a binary export of Logic 2, nor what sigrok-cli recognises; sigrok-cli -I "
                "FORMAT -i FILE -o OTHER.sr converts what it knows."
            )
        edges, names, has_rate = read_channels(session, selection.among, samplerate_hz)
    agreed(edges.samplerate_hz, samplerate_hz)
    return Import(edges, _origin((path,), "by sigrok", "file" if has_rate else "option", names))


def _saleae_binary(files: Mapping[str, Path], selection: Selection, samplerate_hz: int | None) -> Import:
    timed, names = read_saleae_binary(files, selection)
    return _timed(tuple(files[name] for name in names.values()), "Saleae binary", timed, names, samplerate_hz)


def _timed(
    paths: tuple[Path, ...], kind: str, timed: Timed, names: dict[str, str], samplerate_hz: int | None
) -> Import:
    result = sampled(timed, samplerate_hz)
    origin = _origin(paths, kind, result.rate_from, names)
    return Import(result.edges, origin, _losses(origin.file, result.edges, timed.cut), result.lost)


def _losses(file: str, edges: EdgeList, cut: bool) -> tuple[str, ...]:
    if not cut:
        return ()
    return (
        f"{file} was cut in the middle: the {edges.total_samples:,} samples before that are kept, and the "
        "rest is missing; export it again.",
    )


def _origin(paths: tuple[Path, ...], kind: str, rate_from: RateFrom, names: dict[str, str]) -> Imported:
    return Imported(
        file=paths[0].name if len(paths) == 1 else paths[0].resolve().parent.name,
        format=kind,
        sha256=_digest(paths),
        samplerate_from=rate_from,
        channels=names,
    )


def _digest(paths: tuple[Path, ...]) -> str:
    """SHA-256 of the files' bytes, one behind the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(_HASHED_BYTES):
                digest.update(block)
    return digest.hexdigest()
