"""Recognises what another tool wrote by its content, and reads it."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from base.files.errors import CaptureError
from base.files.whole import open_regular, why
from base.processes import children
from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Imported
from base.run_folder.session_file import read_channels
from capture.importing import level_tables, saleae_binary, waves
from capture.importing.saleae_binary import read_saleae_binary
from capture.importing.timed import (
    LINE_MOST_BYTES,
    TEXT_MOST_BYTES,
    RateFrom,
    Selection,
    Timed,
    agreed,
    sampled,
)
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
    """Reads a session of sigrok, a VCD, FST or GHW, a CSV of sigrok, DSView or Saleae, or a binary
    export of Logic 2.

    Of the last give the folder, or one of its files. `channels` has the file's name of each of our
    channels; None is as Selection says. `samplerate_hz` is that of the analyzer, for files
    that do not state it.

    Raises CaptureError with one sentence for whatever cannot be read so.
    """
    selection = Selection(channels)
    try:
        return _read(path, selection, samplerate_hz)
    except CaptureError as error:
        if str(error).startswith(str(path)):
            raise
        raise CaptureError(f"{path} cannot be imported: {error}") from None
    except OSError as error:
        raise CaptureError(f"{path} cannot be imported: {why(error)}.") from None


def _read(path: Path, selection: Selection, samplerate_hz: int | None) -> Import:
    if path.is_dir():
        files = saleae_binary.files_in(path)
        if not files:
            raise CaptureError("it is a folder without digital_0.bin, …, as Logic 2 exports them.")
        return _saleae_binary(files, selection, samplerate_hz)
    with open_regular(path, level_tables.MOST_BYTES) as file:
        begin = file.read(LINE_MOST_BYTES)
        file.seek(0)
        lines = begin.decode("utf-8", errors="replace").lstrip("\ufeff").lstrip().splitlines()
        first = lines[0] if lines else ""
        if level_tables.is_heading(first):
            table = level_tables.read_level_table(file, selection, samplerate_hz)
            return _timed((path,), *table, samplerate_hz)
    if begin.startswith(_ZIP):
        return _session(path, "sigrok session", path, selection, samplerate_hz)
    if begin.startswith(saleae_binary.MAGIC):
        return _saleae_binary({path.stem: path}, selection, samplerate_hz)
    for magic, kind in waves.KINDS.items():
        if begin.startswith(magic):
            return _timed((path,), kind, *read_waves(path, kind, selection), samplerate_hz)
    if first.startswith("$"):
        with open_regular(path, TEXT_MOST_BYTES) as file:
            return _timed((path,), "VCD", *read_vcd(file, selection), samplerate_hz)
    with TemporaryDirectory() as folder:  # what libsigrok recognises by itself, such as Lauterbach's
        session = Path(folder) / "converted.sr"
        with suppress(OSError, subprocess.TimeoutExpired):
            children.run(["sigrok-cli", "-i", path.resolve(), "-o", session], within_s=_CONVERTED_WITHIN_S)
        if session.is_file():
            return _session(session, "by sigrok", path, selection, samplerate_hz)
    raise CaptureError(
        "it is neither a session of sigrok (.sr), nor VCD, FST or GHW, nor CSV of sigrok, DSView or "
        "Saleae, nor a binary export of Logic 2, nor what sigrok-cli recognises; sigrok-cli -I FORMAT -i "
        "FILE -o OTHER.sr converts what it knows."
    )


def _session(session: Path, kind: str, path: Path, selection: Selection, samplerate_hz: int | None) -> Import:
    """A session, which is `path` or was made of it."""
    edges, names, has_rate = read_channels(session, selection.among, samplerate_hz)
    agreed(edges.samplerate_hz, samplerate_hz)
    return Import(edges, _origin((path,), kind, "file" if has_rate else "option", names))


def _saleae_binary(files: Mapping[str, Path], selection: Selection, samplerate_hz: int | None) -> Import:
    timed, names = read_saleae_binary(files, selection)
    return _timed(tuple(files[name] for name in names.values()), "Saleae binary", timed, names, samplerate_hz)


def _timed(
    paths: tuple[Path, ...], kind: str, timed: Timed, names: dict[str, str], samplerate_hz: int | None
) -> Import:
    result = sampled(timed, samplerate_hz)
    origin = _origin(paths, kind, result.rate_from, names)
    losses = (
        f"{origin.file} was cut in the middle: the {result.edges.total_samples:,} samples before that are "
        "kept, and the rest is missing; export it again.",
    )
    return Import(result.edges, origin, losses if timed.cut else (), result.lost)


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
