"""Run folders: each file is written whole or not at all, run.json last (docs/SPEC.md, section 5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from capture.files.errors import CaptureError
from capture.files.whole import why, write_bytes, write_whole

MANIFEST = "run.json"
EDGES = "edges.parquet"
SESSION = "capture.sr"
OPERATIONS = "operations.parquet"
INTERRUPTS = "interrupts.parquet"
IMAGE = "operations.bin"
SERIAL_LOG = "uart.log"
COUNTS = "counts.csv"
PLAN = "plan.parquet"


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
            raise CaptureError(f"No run folder can be created in {runs}: {why(error)}.") from None

    def write_bytes(self, name: str, content: bytes) -> None:
        """Writes `content` as file `name`. Raises WriteError, and leaves no part of it."""
        write_bytes(self.path / name, content)

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Writes `content` as JSON; NaN and infinity are refused, since JSON has none."""
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        self.write_bytes(name, text.encode() + b"\n")

    def write(self, name: str, writer: Callable[[Path], None]) -> None:
        """Has `writer` write file `name`, whole or not at all. Raises WriteError."""
        write_whole(self.path / name, writer)


def _first_free(runs: Path, name: str) -> Path:
    suffix = 1
    while True:
        path = runs / (name if suffix == 1 else f"{name}-{suffix}")
        try:
            path.mkdir()
            return path
        except FileExistsError:
            suffix += 1
