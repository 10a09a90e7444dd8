"""Run folders: their names, and files written whole or not at all.

See docs/reference/run-folder.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..files.errors import CaptureError, RunError
from ..files.whole import open_regular, read_bytes, why, write_bytes
from .channels import MOST_FILE_BYTES, MOST_LOG_BYTES

MANIFEST = "run.json"
EDGES = "edges.parquet"
EDGE_STREAM = "edges.stream"
PROGRESS = "progress.json"
SESSION = "capture.sr"
SPANS = "spans.parquet"
"""Of a run from the wire alone: each pulse and latency."""
SETUP = "capture.pvs"
OPERATIONS = "operations.parquet"
INTERRUPTS = "interrupts.parquet"
IMAGE = "operations.bin"
SERIAL_LOG = "uart.log"
COUNTS = "counts.csv"
PLAN = "plan.parquet"
PLACEMENTS = "placements.json"
OBSERVED = "observed.json"
"""What was asked of a run from the wire alone; no other run has it."""
KEPT = "kept.parquet"
"""Of such a run of which only windows were kept."""
WINDOWS = "windows"
"""The folder with a copy of each for PulseView."""

OBSERVED_FILES = (IMAGE, PLAN, SERIAL_LOG, COUNTS, EDGES)
"""What a run of operations leaves that cannot be had again."""
TABLES = (OPERATIONS, INTERRUPTS)
"""What was found in that."""

MOST_BYTES = {IMAGE: 256 << 10, SERIAL_LOG: MOST_LOG_BYTES, COUNTS: 16 << 20}
"""Of the files that are read as they are: as much as is
read. An image has no more room in the flash.
"""

# Options stand behind the allocator, each led by a full stop. A number at the end is no board.
_NAME = re.compile(r"\d{8}T\d{6}Z-(?P<scenario>.+)-(?P<allocator>[^-]+)-(?P<board>(?!\d+$)[^-]+?)(-\d+)?")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_]+")
_OPTIONS_MOST_CHARACTERS = 80


class RunName(NamedTuple):
    """The facts in the name of a run folder, beside the time."""

    scenario: str
    allocator: str
    board: str
    options: tuple[str, ...] = ()
    """What differs from the defaults, such as `art off`. It tells folders apart, no more."""

    def at(self, time: datetime) -> str:
        """The name of the folder of a run that began at `time` (UTC)."""
        # `.art_off.heap_86064`, in characters that no shell and no address takes amiss.
        words = "".join(f".{_NOT_IN_A_NAME.sub('_', option)}" for option in self.options)
        if len(words) > _OPTIONS_MOST_CHARACTERS:
            words = f"{words[:_OPTIONS_MOST_CHARACTERS].rpartition('.')[0]}.more"
        return f"{time:%Y%m%dT%H%M%SZ}-{self.scenario}-{self.allocator}{words}-{self.board}"

    @classmethod
    def of(cls, folder: Path) -> RunName | None:
        """The facts in the name of `folder`; None if it is not a run folder's name."""
        match = _NAME.fullmatch(folder.resolve().name)
        if match is None:
            return None
        return cls(match["scenario"], match["allocator"].partition(".")[0], match["board"])


def create(runs: Path, time: datetime, name: RunName) -> Path:
    """Creates the folder of a run that began at `time` (UTC) in `runs`.

    Where the name is taken, -2, -3… is added to it. Raises CaptureError where it cannot be made.
    """
    try:
        runs.mkdir(parents=True, exist_ok=True)
        path, suffix = runs / name.at(time), 1
        while True:
            with suppress(FileExistsError):
                path.mkdir()
                return path
            suffix += 1
            path = runs / f"{name.at(time)}-{suffix}"
    except OSError as error:
        raise CaptureError(f"No run folder can be created in {runs}: {why(error)}.") from None


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes `content` as JSON. Raises WriteError, and ValueError for NaN and infinity."""
    text = f"{json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)}\n"
    write_bytes(path, text.encode())


def remove_file(path: Path) -> None:
    """Removes a file, if it can be: what it holds is elsewhere too."""
    with suppress(OSError):
        path.unlink()


remove = partial(shutil.rmtree, ignore_errors=True)
"""Removes a folder with all that is in it, as far as that can be done."""


def check_members(folder: Path) -> None:
    """Raises RunError where a member of `folder`, or of a folder in it, is a link.

    A folder of runs may be a stranger's. A link in it would have its reader's files read, or
    written.
    """
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent, name) for name in (*folders, *files)):
            if path.is_symlink():
                raise RunError(
                    f"{path}: is a symbolic link, and none is followed in a folder of runs; put the file "
                    "itself there, or remove it."
                )


def digest(path: Path) -> str | None:
    """The SHA-256 of a file; None where it is missing, no file, or too long."""
    try:
        with open_regular(path, MOST_FILE_BYTES) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each of OBSERVED_FILES and TABLES that is in `folder`, by name."""
    return {name: sha256 for name in (*OBSERVED_FILES, *TABLES) if (sha256 := digest(folder / name))}


def check_digests(folder: Path, expected: Mapping[str, str], remedy: str) -> None:
    """Raises RunError where a file of `folder` has another digest than the `expected` one. What is
    missing, no file or too long whoever reads it refuses. No file is opened that only `expected`
    names.
    """
    for name in (*OBSERVED_FILES, *TABLES):
        if name in expected and digest(folder / name) not in (None, expected[name]):
            raise RunError(f"{folder / name}: is not the file that {MANIFEST} was written of; {remedy}.")


def is_observed(folder: Path) -> bool:
    """True if the run in `folder` is from the wire alone (base/run_folder/observed.py)."""
    return (folder / OBSERVED).exists()


def no_manifest(folder: Path) -> str:
    """The sentence on a run folder that has no run.json: what that means, and what to do."""
    return (
        f"{folder}: has no {MANIFEST}, so the run was killed, or is not over yet; "
        "./lab redecode it, or run the scenario again."
    )


def read_observed(folder: Path, name: str) -> bytes:
    """The bytes of file `name`, one of MOST_BYTES. Raises CaptureError."""
    try:
        return read_bytes(folder / name, MOST_BYTES[name])
    except OSError as error:
        raise CaptureError(
            f"{folder / name} cannot be read ({why(error)}); without it the run cannot be decoded."
        ) from None


def check_writable(runs: Path) -> None:
    """Makes `runs` and a folder in it, which is removed again. Raises
    CaptureError where it cannot.
    """
    try:
        runs.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(prefix=".writable-", dir=runs).cleanup()
    except OSError as error:
        raise CaptureError(
            f"No run folder can be created in {runs}: {why(error)}; nothing was captured."
        ) from None
