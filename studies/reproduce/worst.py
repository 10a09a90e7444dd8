"""Constructed worst cases at the scale of 8 MiB, in instructions of this machine: one row."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from studies.worst import host


@dataclass(frozen=True)
class WorstOnThisMachine:
    """What is asked; `construction` is one of the generator `worst`."""

    SOURCES: ClassVar[tuple[str, ...]] = (
        *("firmware", "scenarios", "studies/worst", "studies/reproduce/worst.py"),
    )

    allocator: str
    construction: str

    def __str__(self) -> str:
        return f"{self.construction} on {self.allocator}, 8 MiB"

    def measure(self) -> pl.DataFrame:
        """`instructions` of the operation that is measured. Raises HostHeapError."""
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            cell = host.cell(self.construction, self.allocator, Path(folder))
        return pl.DataFrame({"instructions": [cell.instructions]})
