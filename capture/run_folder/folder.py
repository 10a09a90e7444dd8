"""Run folders: each file is written whole or not at all, run.json last (docs/SPEC.md, section 5)."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from capture.run_folder.edges import CaptureError

MANIFEST = "run.json"
EDGES = "edges.parquet"
SESSION = "capture.sr"
OPERATIONS = "operations.parquet"
INTERRUPTS = "interrupts.parquet"
IMAGE = "operations.bin"
SERIAL_LOG = "uart.log"
COUNTS = "counts.csv"

_TEMPORARY_SUFFIX = ".part"


class RunFolder:
    """A folder that is being filled; `path` is where."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, runs: Path, time: datetime, scenario: str, allocator: str, board: str) -> RunFolder:
        """Creates the folder of a run that began at `time` (UTC) in `runs`. Raises CaptureError."""
        name = f"{time:%Y%m%dT%H%M%SZ}-{scenario}-{allocator}-{board}"
        try:
            runs.mkdir(parents=True, exist_ok=True)
            return cls(_first_free(runs, name))
        except OSError as error:
            raise CaptureError(f"No run folder can be created in {runs}: {_why(error)}.") from None

    def write_bytes(self, name: str, content: bytes) -> None:
        """Writes `content` as file `name`. Raises CaptureError, and leaves no part of it."""
        self.write(name, lambda path: _store(path, content))

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Writes `content` as JSON; NaN and infinity are refused, since JSON has none."""
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        self.write_bytes(name, text.encode() + b"\n")

    def write(self, name: str, writer: Callable[[Path], None]) -> None:
        """Has `writer` write a temporary file, syncs it and gives it its name. Raises CaptureError."""
        temporary = self.path / (name + _TEMPORARY_SUFFIX)
        try:
            writer(temporary)
            _sync(temporary)
            temporary.replace(self.path / name)
            _sync(self.path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise CaptureError(
                f"{name} cannot be written to {self.path} ({_why(error)}); what was written before is kept."
            ) from None
        finally:
            temporary.unlink(missing_ok=True)


def _first_free(runs: Path, name: str) -> Path:
    suffix = 1
    while True:
        path = runs / (name if suffix == 1 else f"{name}-{suffix}")
        try:
            path.mkdir()
            return path
        except FileExistsError:
            suffix += 1


def _store(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _sync(path: Path) -> None:
    """Brings a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full: make room and run again"
    return (str(error).splitlines() or [type(error).__name__])[0]
