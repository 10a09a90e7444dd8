"""Recognises what another tool wrote by its content, and reads it."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from base.files.errors import CaptureError
from base.files.whole import open_regular, why
from base.processes import children
from base.run_folder.edges import MOST_CHANNELS, EdgeList
from base.run_folder.manifest import Imported
from base.run_folder.session_file import read_channels
from capture.importing import dumps, level_tables, saleae_binary
from capture.importing.timed import LINE_MOST_BYTES, Named, RateFrom, Timed, agreed, among, sampled

_ZIP = b"PK\3\4"
_CONVERTED_WITHIN_S = 60.0


class Import(NamedTuple):
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
    channels; None is as Named says. `samplerate_hz` is that of the analyzer, for files
    that do not state it.

    Raises CaptureError with one sentence for whatever cannot be read so.
    """
    if channels is not None and len(channels) > MOST_CHANNELS:
        raise CaptureError(
            f"{len(channels)} channels are named, and at most {MOST_CHANNELS} are read at a time."
        )
    try:
        return _read(path, channels, samplerate_hz)
    except CaptureError as error:
        if str(error).startswith(str(path)):
            raise
        raise CaptureError(f"{path} cannot be imported: {error}") from None
    except OSError as error:
        raise CaptureError(f"{path} cannot be imported: {why(error)}.") from None


def _read(path: Path, named: Named, samplerate_hz: int | None) -> Import:
    if path.is_dir():
        return _saleae_binary(saleae_binary.files_in(path), named, samplerate_hz)
    with open_regular(path, level_tables.MOST_BYTES) as file:
        begin = file.read(LINE_MOST_BYTES)
        file.seek(0)
        text = begin.decode("utf-8", errors="replace").lstrip("\ufeff").lstrip()
        first = next(iter(text.splitlines()), "")
        if level_tables.is_heading(first):
            return _timed([path], level_tables.read_level_table(file, named, samplerate_hz), samplerate_hz)
    if begin.startswith(_ZIP):
        return _session(path, "sigrok session", path, named, samplerate_hz)
    if begin.startswith(saleae_binary.MAGIC):
        return _saleae_binary({path.stem: path}, named, samplerate_hz)
    for magic, kind in dumps.KINDS.items():
        if begin.startswith(magic):
            return _timed([path], dumps.read_waves(path, kind, named), samplerate_hz)
    if first.startswith("$"):
        with open_regular(path, dumps.TEXT_MOST_BYTES) as file:
            return _timed([path], dumps.read_vcd(file, named), samplerate_hz)
    with TemporaryDirectory() as folder:  # what libsigrok recognises by itself, such as Lauterbach's
        session = Path(folder) / "converted.sr"
        with suppress(OSError, subprocess.TimeoutExpired):
            children.run(["sigrok-cli", "-i", path.resolve(), "-o", session], within_s=_CONVERTED_WITHIN_S)
        if session.is_file():
            return _session(session, "by sigrok", path, named, samplerate_hz)
    raise CaptureError(
        "it is neither a session of sigrok (.sr), nor VCD, FST or GHW, nor CSV of sigrok, DSView or "
        "Saleae, nor a binary export of Logic 2, nor what sigrok-cli recognises; sigrok-cli -I FORMAT -i "
        "FILE -o OTHER.sr converts what it knows."
    )


def _session(session: Path, kind: str, path: Path, named: Named, samplerate_hz: int | None) -> Import:
    """A session, which is `path` or was made of it."""
    edges, names, has_rate = read_channels(session, partial(among, named), samplerate_hz)
    agreed(edges.samplerate_hz, samplerate_hz)
    return Import(edges, _origin([path], kind, "file" if has_rate else "option", names))


def _saleae_binary(files: Mapping[str, Path], named: Named, samplerate_hz: int | None) -> Import:
    timed = saleae_binary.read_saleae_binary(files, named)
    return _timed([files[name] for name in timed.named.values()], timed, samplerate_hz)


def _timed(paths: Sequence[Path], timed: Timed, samplerate_hz: int | None) -> Import:
    edges, rate_from, lost = sampled(timed, samplerate_hz)
    origin = _origin(paths, timed.format, rate_from, timed.named)
    cut = (
        f"{origin.file} was cut in the middle: the {edges.total_samples:,} samples before that are "
        "kept, and the rest is missing; export it again."
    )
    return Import(edges, origin, (cut,) if timed.cut else (), lost)


def _origin(paths: Sequence[Path], kind: str, rate_from: RateFrom, names: dict[str, str]) -> Imported:
    digest = hashlib.sha256()  # of the files' bytes, one behind the other
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return Imported(
        file=paths[0].name if len(paths) == 1 else paths[0].resolve().parent.name,
        format=kind,
        sha256=digest.hexdigest(),
        samplerate_from=rate_from,
        channels=names,
    )
